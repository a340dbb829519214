/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/sources.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

/* A folder and the files in it that are read. Parts of the folder may hold "*"; so may the names, and then
 * all files of the folder are meant that match. */
typedef struct Source {
        const char *folder, *names;
} Source;

#define CPU   "sys/devices/system/cpu"
#define NODE  "sys/devices/system/node"
#define PCI   "sys/bus/pci/devices/*"
#define NET   "sys/class/net/*"
#define BLOCK "sys/block/*"

/* Only what was chosen for it is read: sysfs has files that hold secrets (CHAP passwords of iSCSI sessions),
 * take long (vpd), or are the device itself (resource0). */
static const Source machine_sources[] = {
        { "proc", "version cmdline interrupts softirqs" },
        { "proc/irq", "default_smp_affinity" },
        { "proc/irq/*", "*" },
        { "proc/sys/kernel", "osrelease version numa_balancing" },
        { "etc", "os-release" },
        { CPU, "online offline possible present isolated nohz_full kernel_max" },
        { CPU "/smt", "active control" },
        { CPU "/cpu*", "online" },
        { CPU "/cpu*/topology", "*" },
        { CPU "/cpu*/cache/index*", "id level type size shared_cpu_list shared_cpu_map" },
        { NODE, "online possible has_cpu has_memory has_normal_memory" },
        { NODE "/node*", "cpulist cpumap distance" },
        { PCI, "class vendor device subsystem_vendor subsystem_device revision numa_node local_cpulist "
               "local_cpus irq enable dma_mask_bits current_link_speed current_link_width sriov_numvfs "
               "sriov_totalvfs" },
        { PCI "/msi_irqs", "*" },
        { "sys/kernel/iommu_groups/*", "type iova_depot_max iova_stats" },
        { "sys/kernel/irq/*", "actions chip_name hwirq name type" },
        { "sys/devices/virtual/workqueue", "cpumask cpumask_requested cpumask_isolated" },
        { "sys/devices/virtual/workqueue/*",
          "cpumask max_active per_cpu nice numa affinity_scope affinity_strict" },
        { "sys/module/workqueue/parameters", "*" },
        { NET, "type mtu operstate carrier speed dev_port tx_queue_len" },
        { NET "/queues/*", "rps_cpus rps_flow_cnt xps_cpus xps_rxqs" },
        { NET "/bonding", "mode active_slave slaves miimon xmit_hash_policy" },
        { NET "/bridge", "stp_state" },
        { "sys/class/scsi_host/*", "proc_name can_queue cmd_per_lun nr_hw_queues sg_tablesize state "
                                   "xmit_numa xmit_inline xmit_stats rx_cpu" },
        { "sys/class/iscsi_host/*", "netdev ipaddress hwaddress port_state port_speed" },
        { "sys/class/iscsi_session/*", "targetname ifacename state tpgt" },
        { "sys/class/iscsi_connection/*", "address port local_port state" },
        { "sys/class/iscsi_transport/*", "caps" },
        { "sys/class/nvme/*", "address cntlid model firmware_rev numa_node queue_count state transport" },
        { BLOCK, "size" },
        { BLOCK "/queue", "nr_requests rq_affinity scheduler rotational io_poll max_sectors_kb" },
        { BLOCK "/mq/*", "cpu_list nr_tags" },
        { "sys/module/iova/parameters", "*" },
        { "sys/module/iscsi_tcp/parameters", "*" },
        { "sys/module/nvme/parameters", "*" },
        { "sys/module/megaraid_sas/parameters", "*" },
        { "sys/module/mpt3sas/parameters", "*" },
        { "sys/module/hisi_sas_v3_hw/parameters", "*" },
        { "sys/module/scsi_mod/parameters", "*" },
        { "", "netlink.json standin.json" },
        { 0 },
};

static const Source names[] = {
        { "proc/sys/kernel", "hostname" },
        { "etc", "hostname" },
        { 0 },
};

static const Source serials[] = {
        { "etc", "machine-id" },
        { "sys/class/dmi/id", "product_serial board_serial chassis_serial chassis_asset_tag product_uuid" },
        { BLOCK, "serial wwid uuid nguid eui" },
        { BLOCK "/device", "serial wwid sas_address unique_id" },
        { BLOCK "/dm", "uuid" },
        { "sys/class/nvme/*", "serial subsysnqn hostnqn hostid" },
        { "sys/class/fc_host/*", "port_name node_name fabric_name" },
        { "sys/class/sas_phy/*", "sas_address" },
        { "sys/class/sas_host/*/device/scsi_host/*", "host_sas_address unique_id" },
        { "sys/class/scsi_host/*", "host_sas_address board_tracer serial" },
        { "sys/class/infiniband/*", "node_guid sys_image_guid" },
        { NET, "phys_switch_id phys_port_id" },
        { 0 },
};

static const Source texts[] = {
        { NET, "address broadcast" },
        { NET "/bonding", "ad_partner_mac ad_actor_system" },
        { "etc/iscsi", "initiatorname.iscsi" },
        { "sys/class/iscsi_host/*", "hwaddress initiatorname ipaddress" },
        { "sys/class/iscsi_session/*", "targetname initiatorname" },
        { "sys/class/iscsi_connection/*", "address persistent_address" },
        { "proc/sys/kernel/random", "boot_id" },
        { "sys/firmware/ibft/initiator", "initiator-name" },
        { "sys/firmware/ibft/*", "mac ip-addr target-name" },
        { 0 },
};

typedef struct Walk {
        const Root *root;
        const Source *source;
        SourceVisit visit; /* NULL = reading is all */
        void *context;
} Walk;

static bool is_pattern(const char *word)
{
        return strchr(word, '*') != NULL;
}

static int read_one(const Walk *w, const char *path)
{
        _cleanup_(freep) char *text = NULL;
        int r;

        r = root_read(w->root, &text, "%s", path);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return w->visit ? w->visit(w->context, path, text) : 0;
}

static int read_matching(const Walk *w, const char *folder, const char *pattern)
{
        Strv found = { 0 };
        int r;

        r = root_list(w->root, &found, "%s", folder);
        if (r != -ENOMEM)
                r = 0;
        for (size_t i = 0; r >= 0 && i < found.n; i++) {
                _cleanup_(freep) char *path = strf("%s/%s", folder, found.items[i]);

                if (fnmatch(pattern, found.items[i], 0) == 0)
                        r = path ? read_one(w, path) : -ENOMEM;
        }
        strv_clear(&found);
        return r;
}

static int read_names(const Walk *w, const char *folder)
{
        _cleanup_(freep) char *words = strdup(w->source->names);
        char *save = NULL;
        int r = words ? 0 : -ENOMEM;

        for (char *word = words ? strtok_r(words, " ", &save) : NULL; r >= 0 && word;
             word = strtok_r(NULL, " ", &save)) {
                _cleanup_(freep) char *path = strf("%s%s%s", folder, *folder ? "/" : "", word);

                if (!path)
                        r = -ENOMEM;
                else if (is_pattern(word))
                        r = read_matching(w, folder, word);
                else
                        r = read_one(w, path);
        }
        return r;
}

/* Visits each folder below `done` that the rest of the pattern names. */
static int expand(const Walk *w, const char *done, const char *rest)
{
        size_t length = strcspn(rest, "/");
        _cleanup_(freep) char *part = strndup(rest, length);
        const char *next = rest + length + (rest[length] == '/');
        Strv found = { 0 };
        int r;

        if (!part)
                return -ENOMEM;
        if (!*part)
                return read_names(w, done);
        r = is_pattern(part) ? root_list(w->root, &found, "%s", done) : strv_add(&found, part);
        if (r != -ENOMEM)
                r = 0;
        for (size_t i = 0; r >= 0 && i < found.n; i++) {
                _cleanup_(freep) char *longer = strf("%s%s%s", done, *done ? "/" : "", found.items[i]);

                if (fnmatch(part, found.items[i], 0) == 0)
                        r = longer ? expand(w, longer, next) : -ENOMEM;
        }
        strv_clear(&found);
        return r;
}

static int walk(const Root *root, const Source *sources, SourceVisit visit, void *context)
{
        Walk w = { .root = root, .visit = visit, .context = context };
        int r = 0;

        for (w.source = sources; r >= 0 && w.source->folder; w.source++)
                r = expand(&w, "", w.source->folder);
        return r;
}

int sources_read(const Root *root)
{
        return walk(root, machine_sources, NULL, NULL);
}

int sources_names(const Root *root, SourceVisit visit, void *context)
{
        return walk(root, names, visit, context);
}

int sources_serials(const Root *root, SourceVisit visit, void *context)
{
        return walk(root, serials, visit, context);
}

int sources_texts(const Root *root, SourceVisit visit, void *context)
{
        return walk(root, texts, visit, context);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/keys.h"

#include <string.h>

/* Linux has at most 1,024 nodes (CONFIG_NODES_SHIFT is 10 or less). */
#define NODE_MAX 1023

static const char *const node_words[] = { "spread", "leave", NULL };
static const char *const iova_depot_words[] = { "keep", "auto", NULL };
static const char *const iova_domain_words[] = { "keep", "lazy", NULL };
static const char *const switch_words[] = { "on", "off", NULL };
static const char *const irq_mode_words[] = { "spread", "node", "leave", NULL };
static const char *const iscsi_dynamic_words[] = { "off", "on", "submitter", "auto", NULL };
static const char *const iscsi_transmit_words[] = { "workqueue", "inline", NULL };
static const char *const workqueue_cpumask_words[] = { "node", "leave", NULL };

static const PolicyKey rule_keys[] = {
        { "node", KEY_NUMBER, node_words, 0, NODE_MAX,
          "node to place the device on instead of its own; spread = all nodes, leave = touch nothing" },
        { "cpus", KEY_CPULIST, NULL, 0, 0, "use only these CPUs of the node" },
};

const PolicyKey plugin_irq_keys[1] = {
        { "mode", KEY_CPULIST, irq_mode_words, 0, 0,
          "spread = one CPU of the node for each queue, node = the whole node, leave = touch nothing" },
};

const PolicyKey plugin_iova_keys[4] = {
        { "depot", KEY_NUMBER, iova_depot_words, 1, IOVA_DEPOT_MAX,
          "magazines that the IOVA depots of the device's IOMMU group keep; auto = as many as help, keep = "
          "as it is" },
        { "depot_max", KEY_NUMBER, NULL, 1, IOVA_DEPOT_MAX,
          "the most that depot: auto may set, 512 unless set" },
        { "domain", KEY_ENUM, iova_domain_words, 0, 0,
          "lazy = the group's domain flushes what is unmapped in batches, keep = as it is" },
        { "cacheable_io", KEY_ENUM, switch_words, 0, 0,
          "on = the device's disks get requests of at most 128 KiB, which the IOVA caches serve" },
};

const PolicyKey plugin_workqueue_keys[1] = {
        { "cpumask", KEY_CPULIST, workqueue_cpumask_words, 0, 0,
          "node = the CPUs of the device's node, leave = touch nothing" },
};

const PolicyKey plugin_iscsi_keys[2] = {
        { "dynamic", KEY_ENUM, iscsi_dynamic_words, 0, 0,
          "on = transmit work runs on the node that receives, submitter = on the node that submits, off = as "
          "the kernel does it, auto = on where it helps" },
        { "transmit", KEY_ENUM, iscsi_transmit_words, 0, 0,
          "workqueue = the host's queue transmits, inline = who submits does, where that is safe" },
};

static const PolicySection sections[] = {
        { "", "placement of the device as a whole", rule_keys, ARRAY_SIZE(rule_keys) },
        { "irq", "interrupt affinity", plugin_irq_keys, ARRAY_SIZE(plugin_irq_keys) },
        { "workqueue", "CPU masks of the device's unbound workqueues", plugin_workqueue_keys,
          ARRAY_SIZE(plugin_workqueue_keys) },
        { "iscsi", "transmit work of software iSCSI hosts", plugin_iscsi_keys,
          ARRAY_SIZE(plugin_iscsi_keys) },
        { "iova", "cost of mapping memory for DMA behind an IOMMU", plugin_iova_keys,
          ARRAY_SIZE(plugin_iova_keys) },
};

const PolicySection *policy_sections(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(sections);
        return sections;
}

const PolicySection *policy_section_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
                if (strcmp(sections[i].name, name) == 0)
                        return &sections[i];
        return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"

/* CPUs, nodes and devices of real machines. usage: test-observe-machines CAPTURES */

typedef struct Want {
        const char *pci; /* NULL ends the list */
        DeviceClass class;
        const char *driver;
        int node;
        NodeSource source;
} Want;

typedef struct Capture {
        const char *archive;
        const char *online;
        unsigned bits;
        const char *nodes;     /* "ID:CPUS ID:CPUS" */
        const char *distances; /* of the first node */
        Want devices[8];
        size_t n_devices;
} Capture;

#define NONE                \
        {                   \
                .pci = NULL \
        }

static const Capture machines[] = {
        { "hwloc/128arm-2pa2n8cluster4co.tar.bz2",
          "0-127",
          128,
          "0:0-31 1:32-63 2:64-95 3:96-127",
          "10 16 32 33",
          { NONE },
          0 },
        { "hwloc/256ppc-8n8s4t.tar.bz2",
          "0-255",
          256,
          "0:0-31 1:32-63 4:64-95 5:96-127 8:128-159 9:160-191 12:192-223 13:224-255",
          "10 20 40 40 40 40 40 40",
          { NONE },
          0 },
        { "hwloc/128ia64-17n4s2c.tar.bz2",
          "0-127",
          128,
          "0:0-7 1:8-15 2:16-23 3:24-31 4:32-39 5:40-47 6:48-55 7:56-63 8:64-71 9:72-79 10:80-87 11:88-95 "
          "12:96-103 13:104-111 14:112-119 15:120-127 16:",
          "10 17 17 17 20 20 20 20 20 20 20 20 20 20 20 20 14",
          { NONE },
          0 },
        { "hwloc/48amd64-4pa2n6c-sparse.tar.bz2",
          "0-47",
          48,
          "0:0-5 1:6-11 2:12-17 33:18-23 34:24-29 45:30-35 72:36-41 73:42-47",
          "10 16 16 22 16 22 16 22",
          { NONE },
          0 },
        { "hwloc/nvidiagpunumanodes.tar.bz2",
          "0-15,88-103",
          176,
          "0:0-15 8:88-103 250: 251: 252: 253: 254: 255:",
          "10 40 80 80 80 80 80 80",
          { NONE },
          0 },
        { "hwloc/offline-cpu0-node0.tar.bz2", "4-20", 192, "1:5,7,9,11,13,15,17,19", "10", { NONE }, 0 },
        { "hwloc/8em64t-2s2ca2c-buggynuma.tar.bz2", "0-7", 8, "0:0-7", "10", { NONE }, 0 },
        { "util-linux-lscpu/x86_64-64cpu.tar.gz",
          "0-63",
          80,
          "0:0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,62 "
          "2:1,5,9,13,17,21,25,29,33,37,41,45,49,53,57,61 3:3,7,11,15,19,23,27,31,35,39,43,47,51,55,59,63",
          "0 0 0",
          { NONE },
          0 },
        { "util-linux-lscpu/ppc64-POWER7-64cpu.tar.gz", "0-63", 64, "0:0-63 1:", "0 0", { NONE }, 0 },
        { "util-linux-lscpu/s390-lpar.tar.gz", "1-5,8-19", 64, "0:1-5,8-19", "10", { NONE }, 0 },
        { "util-linux-lscpu/sparc64.tar.gz", "6-7,10-11,14-15", 16, "0:6-7,10-11,14-15", "10", { NONE }, 0 },
        { "util-linux-lscpu/x86_64-epyc_7451.tar.gz",
          "0-95",
          96,
          "0:0-5,48-53 1:6-11,54-59 2:12-17,60-65 3:18-23,66-71 4:24-29,72-77 5:30-35,78-83 6:36-41,84-89 "
          "7:42-47,90-95",
          "0 0 0 0 0 0 0 0",
          { NONE },
          0 },
        { "hwloc/2pa-pcidomain32bits.tar.bz2",
          "0-1",
          2,
          "0:0-1",
          "10",
          { { "0000:00:03.0", DEVICE_NIC, "virtio_net", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN },
            { "10000:00:04.0", DEVICE_HBA, "virtio_blk", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN } },
          3 },
        { "hwloc/32em64t-2n8c+dax+nvme+mic+dimms.tar.bz2",
          "0-15",
          128,
          "0:0-7 1:8-15",
          "10 21",
          { { "0000:00:02.0", DEVICE_NVME, "nvme", 0, NODE_SOURCE_LOCAL_CPULIST },
            { "0000:00:1f.2", DEVICE_HBA, "ahci", 0, NODE_SOURCE_DEVICE },
            { "0000:02:00.3", DEVICE_NIC, "igb", 0, NODE_SOURCE_DEVICE },
            { "0000:82:00.0", DEVICE_NIC, "mlx4_core", 1, NODE_SOURCE_DEVICE } },
          5 },
        { "hwloc/32intel64-2p8co2t+8ve.tar.bz2",
          "0-31",
          112,
          "0:0-7,16-23 1:8-15,24-31",
          "10 21",
          { { "0000:60:00.1", DEVICE_NIC, "i40e", 0, NODE_SOURCE_DEVICE } },
          2 },
        { "hwloc/fakepcilocalities.tar.bz2",
          "0-39",
          80,
          "0:0,4,8,12,16,20,24,28,32,36 1:1,5,9,13,17,21,25,29,33,37 2:2,6,10,14,18,22,26,30,34,38 "
          "3:3,7,11,15,19,23,27,31,35,39",
          "10 20 20 20",
          { { "0000:01:00.0", DEVICE_HBA, "megaraid_sas", 0, NODE_SOURCE_DEVICE },
            { "0000:03:00.1", DEVICE_NIC, "bnx2", 0, NODE_SOURCE_DEVICE } },
          6 },
        { "hwloc/40intel64-4n10c+pci-conflicts.tar.bz2",
          "0-39",
          80,
          "0:0,4,8,12,16,20,24,28,32,36 1:1,5,9,13,17,21,25,29,33,37 2:2,6,10,14,18,22,26,30,34,38 "
          "3:3,7,11,15,19,23,27,31,35,39",
          "10 20 20 20",
          { { "0000:01:00.0", DEVICE_HBA, "megaraid_sas", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN } },
          1 },
        { "ghw/linux-amd64-intel-xeon-L5640.tar.gz",
          "0-23",
          24,
          "0:0,2,4,6,8,10,12,14,16,18,20,22 1:1,3,5,7,9,11,13,15,17,19,21,23",
          "10 20",
          { { "0000:03:00.0", DEVICE_HBA, "megaraid_sas", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN },
            { "0000:05:00.0", DEVICE_NIC, "igb", 0, NODE_SOURCE_DEVICE },
            { "0000:05:00.1", DEVICE_NIC, "igb", 1, NODE_SOURCE_DEVICE },
            { "0000:05:11.5", DEVICE_NIC, "igbvf", 1, NODE_SOURCE_DEVICE } },
          16 },
};

static void check_nodes(const Snapshot *s, const Capture *c)
{
        _cleanup_(freep) char *nodes = strdup(""), *distances = strdup("");

        for (size_t i = 0; i < s->n_nodes; i++) {
                _cleanup_(freep) char *cpus = cpuset_format_list(s->nodes[i].cpus);
                char *longer = strf("%s%s%d:%s", nodes, i ? " " : "", s->nodes[i].id, cpus);

                free(nodes);
                nodes = longer;
                longer = strf("%s%s%d", distances, i ? " " : "", s->nodes[0].distance[i]);
                free(distances);
                distances = longer;
        }
        assert_string_equal(nodes, c->nodes);
        assert_string_equal(distances, c->distances);
}

/* Every online CPU has a core, a place in it, and a cache that online CPUs share. */
static void check_cpus(const Snapshot *s)
{
        assert_int_equal(s->n_cpus, cpuset_count(s->online));
        for (size_t i = 0; i < s->n_cpus; i++) {
                const Cpu *c = &s->cpus[i];

                assert_true(c->core >= 0 && cpuset_has(s->online, (unsigned)c->core));
                assert_true(c->cache >= 0 && cpuset_has(s->online, (unsigned)c->cache));
                assert_true((c->thread == 0) == (c->core == (int)c->id));
                assert_int_equal(snapshot_cpu(s, (unsigned)c->core)->core, c->core);
        }
}

static void check_machine(const Capture *c)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine m;

        capture_open(&m, c->archive);
        s = tree_observe(&m);
        machine_done(&m);
        assert_cpus(s->online, c->online);
        assert_int_equal(s->cpu_bits, c->bits);
        assert_cpus(s->isolated, "");
        assert_cpus(s->nohz_full, "");
        check_nodes(s, c);
        check_cpus(s);
        for (const Want *w = c->devices; w->pci; w++) {
                _cleanup_(freep) char *id = strf("pci:%s", w->pci);
                const Device *d = tree_device(s, id);

                assert_int_equal(d->class, w->class);
                assert_string_equal(d->driver, w->driver);
                assert_int_equal(d->node, w->node);
                assert_int_equal(d->node_source, w->source);
        }
        assert_int_equal(s->n_devices, c->n_devices);
}

static void every_machine(void **state)
{
        for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
                print_message("%s\n", machines[i].archive);
                check_machine(&machines[i]);
        }
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(every_machine) };

        if (!captures_there(argc, argv))
                return 77;
        return cmocka_run_group_tests(tests, NULL, NULL);
}

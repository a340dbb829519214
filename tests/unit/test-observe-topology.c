/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/isolation.h"
#include "tree.h"

#define CPU  "sys/devices/system/cpu"
#define NODE "sys/devices/system/node"

static int setup(void **state)
{
        Machine *m = malloc(sizeof(*m));

        assert_non_null(m);
        tree_init(m);
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        machine_done(*state);
        free(*state);
        return 0;
}

static void a_plain_machine(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_nodes(m);
        for (unsigned cpu = 0; cpu < 8; cpu++) {
                _cleanup_(freep) char *pair = strf("%u,%u\n", cpu & ~1u, cpu | 1u);

                tree_put(m, pair, CPU "/cpu%u/topology/thread_siblings_list", cpu);
                tree_put(m, "1\n", CPU "/cpu%u/cache/index0/level", cpu);
                tree_put(m, pair, CPU "/cpu%u/cache/index0/shared_cpu_list", cpu);
                tree_put(m, "3\n", CPU "/cpu%u/cache/index3/level", cpu);
                tree_put(m, cpu < 4 ? "0-3\n" : "f0\n", CPU "/cpu%u/cache/index3/%s", cpu,
                         cpu < 4 ? "shared_cpu_list" : "shared_cpu_map");
        }
        machine_put(m, "proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
        s = tree_observe(m);
        assert_true(s->numa);
        assert_string_equal(s->kernel, "6.1.0-57-amd64");
        assert_string_equal(s->boot_id, "");
        assert_int_equal(s->n_nodes, 2);
        assert_int_equal(s->nodes[0].distance[1], 21);
        assert_int_equal(s->cpu_bits, 8);
        assert_int_equal(s->n_cpus, 8);
        assert_int_equal(s->cpus[5].node, 1);
        assert_int_equal(s->cpus[5].core, 4);
        assert_int_equal(s->cpus[5].thread, 1);
        assert_int_equal(s->cpus[5].cache, 4);
        assert_int_equal(s->cpus[2].core, 2);
        assert_int_equal(s->cpus[2].thread, 0);
        assert_int_equal(s->cpus[2].cache, 0);
}

static void online_is_made_from_folders(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        for (unsigned cpu = 0; cpu < 6; cpu++)
                tree_folder(m, CPU "/cpu%u/topology", cpu);
        tree_folder(m, CPU "/cpufreq");
        machine_put(m, CPU "/cpu5/online", "0\n");
        machine_put(m, CPU "/offline", "3\n");
        s = tree_observe(m);
        assert_cpus(s->online, "0-2,4");
        assert_int_equal(s->cpu_bits, 6);
        assert_false(s->numa);
        assert_int_equal(s->n_nodes, 1);
        assert_cpus(s->nodes[0].cpus, "0-2,4");
        assert_int_equal(s->nodes[0].distance[0], 10);
}

/* The nodes list CPUs that are not online, one has only a map, one has memory alone; ids have gaps. */
static void sparse_and_memory_only_nodes(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        machine_put(m, CPU "/online", "0-3,8-9\n");
        machine_put(m, CPU "/possible", "0-127\n");
        machine_put(m, NODE "/online", "0,33,250\n\0");
        machine_put(m, NODE "/node0/cpulist", "0-7\n");
        machine_put(m, NODE "/node0/cpumap", "ffff\n");
        machine_put(m, NODE "/node33/cpumap", "0,00000000,00000000,00000f00\n");
        machine_put(m, NODE "/node250/cpulist", "\n");
        machine_put(m, NODE "/node0/distance", "10 40 80\n");
        machine_put(m, NODE "/node33/distance", "40 10 80 80 80\n");
        s = tree_observe(m);
        assert_int_equal(s->n_nodes, 3);
        assert_cpus(s->nodes[0].cpus, "0-3");
        assert_int_equal(s->nodes[1].id, 33);
        assert_cpus(s->nodes[1].cpus, "8-9");
        assert_int_equal(s->nodes[2].id, 250);
        assert_true(cpuset_is_empty(s->nodes[2].cpus));
        assert_int_equal(s->nodes[0].distance[2], 80);
        assert_int_equal(s->nodes[1].distance[0], 0); /* a row of a strange length says nothing */
        assert_int_equal(s->nodes[2].distance[0], 0); /* neither does a missing one */
        assert_int_equal(s->cpu_bits, 128);
        assert_int_equal(snapshot_cpu(s, 8)->node, 33);
}

/* Node 0 is offline, its folder and its place in the rows are still there; some CPUs belong to no node. */
static void an_offline_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        machine_put(m, CPU "/online", "4-9\n");
        machine_put(m, NODE "/online", "1-2\n");
        machine_put(m, NODE "/possible", "0-2\n");
        machine_put(m, NODE "/node0/cpulist", "0,2,4\n");
        machine_put(m, NODE "/node1/cpulist", "1,3,5,7\n");
        machine_put(m, NODE "/node2/cpulist", "9\n");
        machine_put(m, NODE "/node1/distance", "21 10 31\n");
        s = tree_observe(m);
        assert_int_equal(s->n_nodes, 2);
        assert_cpus(s->nodes[0].cpus, "5,7");
        assert_int_equal(s->nodes[0].distance[0], 10);
        assert_int_equal(s->nodes[0].distance[1], 31);
        assert_int_equal(snapshot_cpu(s, 4)->node, NODE_UNKNOWN);
}

static void overlapping_nodes_are_one(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        machine_put(m, CPU "/online", "0-7\n");
        machine_put(m, NODE "/node0/cpulist", "0-4\n");
        machine_put(m, NODE "/node1/cpulist", "4-7\n");
        s = tree_observe(m);
        assert_true(s->overlapping);
        assert_int_equal(s->n_nodes, 1);
        assert_int_equal(s->nodes[0].id, 0);
        assert_cpus(s->nodes[0].cpus, "0-7");
        assert_int_equal(snapshot_cpu(s, 7)->node, 0);
}

static void check_cmdline(const char *cmdline, const char *want_isolated, const char *want_nohz)
{
        _cleanup_(cpuset_freep) CpuSet *isolated = NULL, *nohz = NULL;

        assert_int_equal(isolation_parse_cmdline(cmdline, &isolated, &nohz), 0);
        assert_cpus(isolated, want_isolated);
        assert_cpus(nohz, want_nohz);
}

static void the_command_line_isolates(void **state)
{
        check_cmdline("quiet isolcpus=2-3 ro", "2-3", "");
        check_cmdline("isolcpus=domain,managed_irq,2-3,6", "2-3,6", "");
        check_cmdline("isolcpus=managed_irq,2-3 nohz_full=4-5", "", "4-5");
        check_cmdline("isolcpus=nohz,2-3", "", "2-3");
        check_cmdline("isolcpus=nohz,domain,2-3", "2-3", "2-3");
        check_cmdline("isolcpus=0-31:2/4", "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29", "");
        check_cmdline("isolcpus=managed_irq", "", "");
        check_cmdline("isolcpus=what?", "", "");
        check_cmdline("xisolcpus=3 rcu_nocbs=4", "", "");
        check_cmdline("", "", "");
}

static void files_go_before_the_command_line(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_nodes(m);
        machine_put(m, "proc/cmdline", "isolcpus=1 nohz_full=2\n");
        machine_put(m, CPU "/isolated", "\n");
        machine_put(m, CPU "/nohz_full", "  (null)\n");
        s = tree_observe(m);
        assert_cpus(s->isolated, "");
        assert_cpus(s->nohz_full, "");
}

static void the_command_line_stands_in_for_files(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_nodes(m);
        machine_put(m, "proc/cmdline", "isolcpus=1 nohz_full=2\n");
        s = tree_observe(m);
        assert_cpus(s->isolated, "1");
        assert_cpus(s->nohz_full, "2");
}

static void a_root_without_sysfs_is_an_error(void **state)
{
        char dir[SCRATCH_MAX];
        _cleanup_(root_freep) Root *root = NULL;
        Snapshot *s = NULL;

        scratch_make(dir, "empty");
        assert_int_equal(root_open(dir, &root), 0);
        assert_int_equal(observe(root, NULL, 0, &s), -ENOENT);
        assert_null(s);
        assert_int_equal(rmdir(dir), 0);
}

/* A root that tells of no CPU is no machine; where the nodes alone tell, they do. */
static void a_root_without_cpus_is_an_error(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        assert_int_equal(observe(m->root, NULL, 0, &s), -ENODATA);
        assert_null(s);
        machine_put(m, NODE "/node0/cpulist", "0-3\n");
        machine_put(m, NODE "/node2/cpumap", "f0\n");
        s = tree_observe(m);
        assert_cpus(s->online, "0-7");
        assert_int_equal(snapshot_cpu(s, 5)->node, 2);
        assert_int_equal(s->absent.n, 4); /* of /proc and /sys there is hardly anything */
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                CASE(a_plain_machine),
                CASE(online_is_made_from_folders),
                CASE(sparse_and_memory_only_nodes),
                CASE(an_offline_node),
                CASE(overlapping_nodes_are_one),
                cmocka_unit_test(the_command_line_isolates),
                CASE(files_go_before_the_command_line),
                CASE(the_command_line_stands_in_for_files),
                cmocka_unit_test(a_root_without_sysfs_is_an_error),
                CASE(a_root_without_cpus_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

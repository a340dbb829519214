/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iommu.h"
#include "observe/iova-stats.h"
#include "plan/plan.h"
#include "plugins/iova.h"
#include "plugins/plugin.h"
#include "tree.h"

/* IOMMU groups: what is observed of them, and what the plug-in iova plans. */

#define GROUPS "sys/kernel/iommu_groups"
#define PCI    "sys/devices/pci0000:00"
#define HBA    "0000:00:02.0"
#define NVME   "0000:00:03.0"
#define STATS                                                                        \
        "0 100 20 30 90 10 2 5\n1 1 2 3 4 5 6 7\n2 0 0 0 0 0 0 0\n3 0 0 0 0 0 0 0\n" \
        "4 0 0 0 0 0 0 0\n5 0 0 0 0 0 0 0\n"

static int setup(void **state)
{
        Machine *m = malloc(sizeof(*m));

        assert_non_null(m);
        tree_init(m);
        tree_put_nodes(m);
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        machine_done(*state);
        free(*state);
        return 0;
}

static void put_group(const Machine *m, const char *address, int group, const char *type)
{
        _cleanup_(freep) char *link = strf(PCI "/%s/iommu_group", address), *to = strf(GROUPS "/%d", group);
        _cleanup_(freep) char *member = strf(GROUPS "/%d/devices/%s", group, address);
        _cleanup_(freep) char *folder = strf(PCI "/%s", address);

        tree_link(m, link, to);
        tree_link(m, member, folder);
        tree_put(m, type, GROUPS "/%d/type", group);
}

static void put_disk(const Machine *m, const char *address, int host, int target, const char *name)
{
        _cleanup_(freep) char *path = strf(PCI "/%s/host%d/target%d:0:%d/%d:0:%d:0/block/%s", address, host,
                                           host, target, host, target, name);
        _cleanup_(freep) char *link = strf("sys/class/block/%s", name);
        _cleanup_(freep) char *class = strf("sys/class/scsi_host/host%d", host), *folder = NULL;

        tree_put(m, "512\n", "%s/queue/max_sectors_kb", path);
        tree_link(m, link, path);
        folder = strf(PCI "/%s/host%d/scsi_host/host%d", address, host, host);
        tree_folder(m, "%s", folder);
        if (!root_exists(m->root, "%s", class))
                tree_link(m, class, folder);
}

/* An HBA in group 7, with two disks on its one SCSI host, and an NVMe drive in group 8. */
static void put_devices(const Machine *m, const char *type)
{
        tree_put_pci(m, HBA, "0x010400\n", "0\n", "megaraid_sas");
        tree_put_pci(m, NVME, "0x010802\n", "1\n", "nvme");
        put_group(m, HBA, 7, type);
        put_group(m, NVME, 8, type);
        put_disk(m, HBA, 12, 0, "sdc");
        put_disk(m, HBA, 12, 1, "sdd");
        tree_put(m, "512\n", PCI "/" NVME "/nvme/nvme1/nvme1n2/queue/max_sectors_kb");
        tree_link(m, "sys/class/block/nvme1n2", PCI "/" NVME "/nvme/nvme1/nvme1n2");
}

static void put_depots(const Machine *m, const char *limit)
{
        tree_put(m, "32\n", "sys/module/iova/parameters/depot_max");
        for (int group = 7; group <= 8; group++) {
                tree_put(m, limit, GROUPS "/%d/iova_depot_max", group);
                tree_put(m, STATS, GROUPS "/%d/iova_stats", group);
        }
}

typedef struct Planned {
        Snapshot *snapshot;
        Policy *policy;
        Plan *plan;
        SymbolMemo memo;
} Planned;

static void planned_done(Planned *p)
{
        plan_free(p->plan);
        policy_free(p->policy);
        snapshot_free(p->snapshot);
}

static Planned make_of(const Machine *m, const char *yaml, PlanInput in)
{
        Planned p = { 0 };

        assert_int_equal(policy_parse("p.yaml", yaml, strlen(yaml), &p.policy, NULL), 0);
        p.snapshot = tree_observe(m);
        assert_int_equal(plugins_complete(m->root, p.policy, &p.memo, p.snapshot), 0);
        in.snapshot = p.snapshot;
        in.policy = p.policy;
        assert_int_equal(plan(&in, &p.plan), 0);
        return p;
}

#define RULE "rules: [{name: r, match: {class: [hba, nvme]}, set: {%s}}]\n"

static Planned make(const Machine *m, const char *set)
{
        _cleanup_(freep) char *yaml = strf("version: 1\n" RULE, set);

        return make_of(m, yaml, (PlanInput) { 0 });
}

static void expect_verdict(const Planned *p, const char *device, const char *knob, VerdictState state,
                           const char *text)
{
        for (size_t i = 0; i < p->plan->n_verdicts; i++) {
                const Verdict *v = &p->plan->verdicts[i];

                if (strcmp(v->device + strlen("pci:"), device) != 0 || strcmp(v->knob, knob) != 0)
                        continue;
                assert_string_equal(verdict_state_to_string(v->state), verdict_state_to_string(state));
                if (!strstr(v->reason.text, text))
                        fail_msg("\"%s\" is not in: %s", text, v->reason.text);
                return;
        }
        fail_msg("%s has no verdict on %s", device, knob);
}

static const Change *change(const Planned *p, const char *id)
{
        for (size_t i = 0; i < p->plan->n_changes; i++)
                if (strcmp(p->plan->changes[i].id, id) == 0)
                        return &p->plan->changes[i];
        fail_msg("there is no change %s", id);
        return NULL;
}

static void counters_are_read(void **state)
{
        static const char *const wrong[] = {
                "",
                "x",
                "0 1 2 3 4 5 6",
                "0 1 2 3 4 5 6 7 8",
                "1 1 2 3 4 5 6 7",
                "0 1 2 3 4 5 6 7x",
                "0 1 2 3 4 5 6 7\n0 1 2 3 4 5 6 7",
        };
        IovaStats s = { .n = 99 };
        IovaClass sum;

        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                assert_int_equal(iova_stats_parse(wrong[i], &s), -EINVAL);
        assert_int_equal(s.n, 99);
        assert_int_equal(iova_stats_parse(STATS, &s), 0);
        assert_int_equal(s.n, 6);
        assert_int_equal(s.classes[0].alloc_miss, 30);
        assert_int_equal(s.classes[1].depot_size, 7);
        sum = iova_stats_sum(&s);
        assert_int_equal(sum.alloc_cpu, 101);
        assert_int_equal(sum.alloc_depot, 22);
        assert_int_equal(sum.alloc_miss, 33);
        assert_int_equal(sum.free_drop, 8);
        assert_int_equal(sum.depot_size, 12);
}

static void a_counter_that_goes_back_tells_nothing(void **state)
{
        IovaStats a, b, d = { .n = 99 };

        assert_int_equal(iova_stats_parse("0 100 20 30 90 10 2 5", &a), 0);
        assert_int_equal(iova_stats_parse("0 150 20 33 90 10 2 4", &b), 0);
        assert_true(iova_stats_between(&a, &b, &d));
        assert_int_equal(d.classes[0].alloc_cpu, 50);
        assert_int_equal(d.classes[0].alloc_miss, 3);
        assert_int_equal(d.classes[0].depot_size, 4);
        d.n = 99;
        assert_false(iova_stats_between(&b, &a, &d));
        b.classes[0].free_drop = 1; /* of another domain */
        assert_false(iova_stats_between(&a, &b, &d));
        b.n = 0;
        assert_false(iova_stats_between(&a, &b, &d));
        assert_int_equal(d.n, 99);
}

static void groups_are_observed(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *hba, *nvme;
        Machine *m = *state;

        put_devices(m, "DMA-FQ\n");
        put_depots(m, "64\n");
        tree_put(m, "32\n", PCI "/" HBA "/dma_mask_bits");
        s = tree_observe(m);
        hba = tree_device(s, "pci:" HBA);
        nvme = tree_device(s, "pci:" NVME);
        assert_int_equal(s->depot, DEPOT_LIMITED);
        assert_int_equal(s->depot_max, 32);
        assert_string_equal(hba->iommu->group, "7");
        assert_string_equal(hba->iommu->type, "DMA-FQ");
        assert_int_equal(hba->iommu->devices, 1);
        assert_int_equal(hba->iommu->functions, 1);
        assert_int_equal(hba->iommu->dma_bits, 32);
        assert_int_equal(nvme->iommu->dma_bits, 0);
        assert_int_equal(hba->iommu->stats.n, 6);
        assert_string_equal(device_knob(hba, WRITER_IOVA_DEPOT)->value, "64");
        assert_string_equal(device_knob(hba, WRITER_BLOCK_MAX_SECTORS)->role, "0:0:0");
        assert_string_equal(device_knob(nvme, WRITER_BLOCK_MAX_SECTORS)->role, "ns2");
}

/* Numbers of hosts and names of disks change from boot to boot. */
static void roles_of_disks_hold_no_such_numbers(void **state)
{
        static const char *const want[] = { "0:0:0", "0:0:0#2", "0:1:0", "disk" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Strv roles = { 0 };
        Machine *m = *state;
        const Device *d;

        tree_put_pci(m, HBA, "0x010601\n", "0\n", "ahci");
        put_group(m, HBA, 7, "DMA\n");
        put_disk(m, HBA, 4, 0, "sda");
        put_disk(m, HBA, 11, 0, "sdb");
        put_disk(m, HBA, 4, 1, "sdc");
        tree_put(m, "512\n", PCI "/" HBA "/virtio3/block/vda/queue/max_sectors_kb");
        tree_link(m, "sys/class/block/vda", PCI "/" HBA "/virtio3/block/vda");
        s = tree_observe(m);
        d = tree_device(s, "pci:" HBA);
        for (size_t i = 0; i < d->n_knobs; i++)
                if (d->knobs[i].kind == WRITER_BLOCK_MAX_SECTORS)
                        assert_int_equal(strv_add(&roles, d->knobs[i].role), 0);
        strv_sort(&roles);
        assert_int_equal(roles.n, ARRAY_SIZE(want));
        for (size_t i = 0; i < roles.n; i++)
                assert_string_equal(roles.items[i], want[i]);
        strv_clear(&roles);
}

static void a_policy_sets_limit_type_and_request_size(void **state)
{
        _cleanup_(planned_done) Planned p = { 0 };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        put_depots(m, "32\n");
        p = make(m, "iova: {depot: 128, domain: lazy, cacheable_io: on}");
        assert_string_equal(change(&p, "pci:" HBA "~iova.depot~iova_depot_max")->desired, "128");
        assert_string_equal(change(&p, "pci:" HBA "~iova.depot~iova_depot_max")->path,
                            GROUPS "/7/iova_depot_max");
        assert_string_equal(change(&p, "pci:" HBA "~iova.domain~type")->desired, "DMA-FQ");
        assert_string_equal(change(&p, "pci:" HBA "~iova.cacheable_io~0:1:0")->desired, "128");
        assert_string_equal(change(&p, "pci:" NVME "~iova.cacheable_io~ns2")->desired, "128");
        assert_int_equal(p.plan->n_changes, 7);
        expect_verdict(&p, HBA, "iova.depot", VERDICT_CHANGES, "6.7 MiB of memory and 3.9 GiB of IOVA space");
        expect_verdict(&p, HBA, "iova.domain", VERDICT_CHANGES, "only while no driver is bound");
        expect_verdict(&p, HBA, "iova.cacheable_io", VERDICT_CHANGES, "2 of 2 disks");
}

static void what_is_so_already_is_right(void **state)
{
        _cleanup_(planned_done) Planned p = { 0 };
        Machine *m = *state;

        put_devices(m, "DMA-FQ\n");
        put_depots(m, "128\n");
        tree_put(m, "64\n", PCI "/" NVME "/nvme/nvme1/nvme1n2/queue/max_sectors_kb");
        p = make(m, "iova: {depot: 128, domain: lazy, cacheable_io: on}");
        assert_int_equal(p.plan->n_changes, 2); /* the HBA's disks */
        expect_verdict(&p, HBA, "iova.depot", VERDICT_RIGHT, "128 magazines");
        expect_verdict(&p, HBA, "iova.domain", VERDICT_RIGHT, "lazy");
        expect_verdict(&p, NVME, "iova.cacheable_io", VERDICT_RIGHT, "1 of 1 disks have");
}

static void narrow_dma_is_warned_of(void **state)
{
        _cleanup_(planned_done) Planned few = { 0 }, many = { 0 };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        put_depots(m, "32\n");
        tree_put(m, "32\n", PCI "/" HBA "/dma_mask_bits");
        tree_put(m, "64\n", PCI "/" NVME "/dma_mask_bits");
        many = make(m, "iova: {depot: 128}");
        expect_verdict(&many, HBA, "iova.depot", VERDICT_CHANGES, "DMA is 32 bits wide");
        assert_null(strstr(change(&many, "pci:" NVME "~iova.depot~iova_depot_max")->reason.text, "wide"));
        few = make(m, "iova: {depot: 64}");
        assert_null(strstr(change(&few, "pci:" HBA "~iova.depot~iova_depot_max")->reason.text, "wide"));
}

/* What auto may come to is told before it does anything. */
static void auto_tells_what_it_can_cost(void **state)
{
        const ControlTarget t = {
                .device = "pci:" NVME, .knob = "iova.depot", .level = 64, .text = "found so"
        };
        _cleanup_(freep) char *most = NULL, *ask = NULL;
        _cleanup_(planned_done) Planned p = { 0 }, stepped = { 0 }, asked = { 0 };
        PlanInput in = { .targets = &t, .n_targets = 1 };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        put_depots(m, "32\n");
        tree_put(m, "32\n", PCI "/" HBA "/dma_mask_bits");
        tree_put(m, "64\n", PCI "/" NVME "/dma_mask_bits");
        p = make(m, "iova: {depot: auto}");
        expect_verdict(&p, NVME, "iova.depot", VERDICT_RIGHT, "32 magazines, which can take 1.7 MiB");
        expect_verdict(&p, NVME, "iova.depot", VERDICT_RIGHT,
                       "at most 512 are set, which can take 26.8 MiB of memory and 15.6 GiB of IOVA space");
        expect_verdict(&p, HBA, "iova.depot", VERDICT_RIGHT, "at most 98 are set");
        expect_verdict(&p, HBA, "iova.depot", VERDICT_RIGHT, "32 bits wide");
        assert_int_equal(p.plan->wishes[0].max, 98);
        most = strf("version: 1\n" RULE, "iova: {depot: auto, depot_max: 128}");
        stepped = make_of(m, most, in);
        expect_verdict(&stepped, NVME, "iova.depot", VERDICT_CHANGES, "auto: found so; ");
        expect_verdict(&stepped, NVME, "iova.depot", VERDICT_CHANGES, "64 magazines, which can take 3.4 MiB");
        expect_verdict(&stepped, NVME, "iova.depot", VERDICT_CHANGES, "at most 128 are set");
        expect_verdict(&p, NVME, "iova.depot", VERDICT_RIGHT, "no step was needed so far");
        ask = strf("version: 1\ndefaults: {apply: ask}\n" RULE, "iova: {depot: auto}");
        asked = make_of(m, ask, (PlanInput) { 0 });
        expect_verdict(&asked, NVME, "iova.depot", VERDICT_RIGHT, "no step is made without apply: auto");
}

/* A file that says so has the default's limit, and a controller begins from that. */
static void auto_wishes_for_a_controller(void **state)
{
        static const struct {
                const char *text;
                long level;
        } rows[] = { { "64\n", 64 }, { "default\n", 32 } };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(planned_done) Planned p = { 0 };

                put_depots(m, rows[i].text);
                p = make(m, "iova: {depot: auto, depot_max: 256}");
                assert_int_equal(p.plan->n_changes, 0);
                assert_int_equal(p.plan->n_wishes, 2);
                assert_int_equal(p.plan->wishes[0].level, rows[i].level);
                assert_int_equal(p.plan->wishes[0].max, 256);
                assert_string_equal(p.plan->wishes[0].counters, GROUPS "/7/iova_stats");
        }
}

/* A kernel that does without says which it is, and what helps there. */
static void absent_limits_are_explained(void **state)
{
        _cleanup_(planned_done) Planned unknown = { 0 }, fixed = { 0 }, scaling = { 0 }, none = { 0 };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        none = make(m, "iova: {domain: lazy}");
        assert_false(none.memo.asked);
        expect_verdict(&none, HBA, "iova.depot", VERDICT_ABSENT, "no limit to set");
        unknown = make(m, "iova: {depot: 128}");
        assert_true(unknown.memo.asked);
        expect_verdict(&unknown, HBA, "iova.depot", VERDICT_ABSENT, "no limit to set");
        tree_put(m,
                 "0000000000000000 t iova_depot_work_func_x\n0000000000000000 t not_iova_depot_work_func\n",
                 "proc/kallsyms");
        fixed = make(m, "iova: {depot: 128}");
        expect_verdict(&fixed, HBA, "iova.depot", VERDICT_ABSENT, "built in");
        expect_verdict(&fixed, HBA, "iova.depot", VERDICT_ABSENT, "iova.domain: lazy helps");
        expect_verdict(&fixed, HBA, "iova.depot", VERDICT_ABSENT, "iova.cacheable_io: on keeps");
        expect_verdict(&fixed, HBA, "iova.depot", VERDICT_ABSENT, "\"numaioctl measure pci:" HBA "\"");
        tree_put(m, "0000000000000000 T alloc_iova\n0000000000000000 t iova_depot_work_func\n",
                 "proc/kallsyms");
        scaling = make(m, "iova: {depot: 128}");
        expect_verdict(&scaling, HBA, "iova.depot", VERDICT_ABSENT, "scale themselves");
        assert_int_equal(scaling.plan->n_changes, 0);
        /* Once for each process. */
        tree_put(m, "0000000000000000 T alloc_iova\n", "proc/kallsyms");
        assert_int_equal(plugins_complete(m->root, scaling.policy, &scaling.memo, scaling.snapshot), 0);
        assert_int_equal(scaling.snapshot->depot, DEPOT_SELF_SCALING);
}

static void a_shared_group_is_nobodys(void **state)
{
        _cleanup_(planned_done) Planned p = { 0 };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        put_depots(m, "32\n");
        tree_put_pci(m, "0000:00:09.0", "0x0c0330\n", "0\n", "xhci_hcd");
        tree_link(m, GROUPS "/7/devices/0000:00:09.0", PCI "/0000:00:09.0");
        tree_put_pci(m, "0000:00:0a.0", "0x060400\n", "0\n", "pcieport");
        tree_link(m, GROUPS "/8/devices/0000:00:0a.0", PCI "/0000:00:0a.0");
        p = make(m, "iova: {depot: 128, domain: lazy}");
        expect_verdict(&p, HBA, "iova.depot", VERDICT_ABSENT, "group 7 holds 2 devices");
        expect_verdict(&p, HBA, "iova.domain", VERDICT_ABSENT, "iommu.strict=0");
        expect_verdict(&p, NVME, "iova.depot", VERDICT_CHANGES, "128"); /* a bridge does no DMA */
        expect_verdict(&p, NVME, "iova.domain", VERDICT_ABSENT, "holds 2 devices");
        assert_int_equal(p.plan->n_changes, 1);
}

static void without_iovas_there_is_no_knob(void **state)
{
        _cleanup_(planned_done) Planned identity = { 0 }, none = { 0 };
        Machine *m = *state;

        put_devices(m, "identity\n");
        put_depots(m, "32\n");
        tree_put_pci(m, "0000:00:04.0", "0x010400\n", "0\n", "mpt3sas");
        identity = make(m, "iova: {depot: 128, domain: lazy, cacheable_io: on}");
        expect_verdict(&identity, HBA, "iova.depot", VERDICT_NONE, "of type identity");
        expect_verdict(&identity, HBA, "iova.domain", VERDICT_NONE, "of type identity");
        expect_verdict(&identity, HBA, "iova.cacheable_io", VERDICT_NONE, "of type identity");
        expect_verdict(&identity, "0000:00:04.0", "iova.depot", VERDICT_NONE, "no IOMMU");
        expect_verdict(&identity, "0000:00:04.0", "iova.cacheable_io", VERDICT_NONE, "no disk");
        assert_int_equal(identity.plan->n_changes, 0);
}

static void nothing_is_written_unasked(void **state)
{
        static const char *const sets[] = {
                "irq: {mode: leave}", "iova: {depot: keep, domain: keep, cacheable_io: off}",
                "node: leave, iova: {depot: 128, domain: lazy, cacheable_io: on}"
        };
        Machine *m = *state;

        put_devices(m, "DMA\n");
        put_depots(m, "32\n");
        for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
                _cleanup_(planned_done) Planned p = make(m, sets[i]);

                assert_int_equal(p.plan->n_changes, 0);
                expect_verdict(&p, HBA, "iova.depot", VERDICT_LEFT, i ? "the policy says" : "no rule");
                expect_verdict(&p, HBA, "iova.domain", VERDICT_LEFT, i ? "the policy says" : "no rule");
                expect_verdict(&p, HBA, "iova.cacheable_io", VERDICT_LEFT, i ? "the policy says" : "no rule");
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counters_are_read),
                cmocka_unit_test(a_counter_that_goes_back_tells_nothing),
                cmocka_unit_test_setup_teardown(groups_are_observed, setup, teardown),
                cmocka_unit_test_setup_teardown(roles_of_disks_hold_no_such_numbers, setup, teardown),
                cmocka_unit_test_setup_teardown(a_policy_sets_limit_type_and_request_size, setup, teardown),
                cmocka_unit_test_setup_teardown(what_is_so_already_is_right, setup, teardown),
                cmocka_unit_test_setup_teardown(narrow_dma_is_warned_of, setup, teardown),
                cmocka_unit_test_setup_teardown(auto_tells_what_it_can_cost, setup, teardown),
                cmocka_unit_test_setup_teardown(auto_wishes_for_a_controller, setup, teardown),
                cmocka_unit_test_setup_teardown(absent_limits_are_explained, setup, teardown),
                cmocka_unit_test_setup_teardown(a_shared_group_is_nobodys, setup, teardown),
                cmocka_unit_test_setup_teardown(without_iovas_there_is_no_knob, setup, teardown),
                cmocka_unit_test_setup_teardown(nothing_is_written_unasked, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/iova.h"

#include "observe/iommu.h"
#include "observe/iova-stats.h"
#include "plugins/keys.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <string.h>

/* The cost of mapping memory for DMA behind an IOMMU: iova.depot, how many magazines of free IOVAs a group's
 * depots keep (drivers/iommu/iova.c); iova.domain, whether its domain flushes unmapped ones in batches;
 * iova.cacheable_io, whether requests of its disks stay inside the sizes that are cached. docs/iova.md. */

#define DEPOT     "iova.depot"
#define DOMAIN    "iova.domain"
#define CACHEABLE "iova.cacheable_io"

#define CLASSES           6     /* size classes: 1 to 32 pages */
#define MAGAZINE          127   /* IOVAs in one */
#define MAGAZINE_MEM      1024  /* bytes of it */
#define IOVA_MEM          64    /* bytes of a struct iova, which each of its IOVAs has */
#define PAGES             63    /* of one IOVA in each class */
#define CACHED_KIB        "128" /* the largest class, with pages of 4 KiB */
#define CACHED_KIB_MAX    128
#define DMA32_BITS        32
#define DMA32_DEPOT       99  /* magazines that hold more than 3 of the 4 GiB */
#define DEPOT_MAX_DEFAULT 512 /* what auto may set when the policy does not say */

double iova_depot_mib(long magazines)
{
        return (double)magazines * CLASSES * (MAGAZINE_MEM + MAGAZINE * IOVA_MEM) / (1 << 20);
}

double iova_depot_space_gib(long magazines)
{
        return (double)magazines * MAGAZINE * PAGES * 4 / (1 << 20);
}

static bool allocates_iovas(const Device *d)
{
        return d->iommu && (strncmp(d->iommu->type, "DMA", 3) == 0 || !*d->iommu->type);
}

static bool says(const Setting *set, const char *word)
{
        return set && set->word && strcmp(set->word, word) == 0;
}

static bool asks_for_depot(const Policy *p, const Device *d)
{
        const Setting *set = policy_get(p, d, "iova", "depot");

        return set && !says(set, "keep") && allocates_iovas(d);
}

static int complete(const Root *root, const Policy *policy, SymbolMemo *memo, Snapshot *s)
{
        for (size_t i = 0; i < s->n_devices; i++)
                if (asks_for_depot(policy, &s->devices[i]))
                        return observe_depot_kind(root, memo, s);
        return 0;
}

/* --- what the three have in common --- */

/* One knob of one device. */
typedef struct Ask {
        PlanBuilder *builder;
        const Device *device;
        const char *knob;
        const Setting *setting; /* NULL = no rule */
} Ask;

#define VERDICT(a, state, ...)                                                                              \
        plan_add_verdict((a)->builder, (a)->device, plugin_iova.name, (a)->knob, state, NULL, (a)->setting, \
                         __VA_ARGS__)

/* Whether the device is left as it is whatever the knob. Returns 1 with its verdict added, 0, or -ENOMEM. */
static int settle(const Ask *a, const char *keep, bool there)
{
        const Setting *node = policy_get(plan_policy(a->builder), a->device, "", "node");
        int r;

        if (!a->device->iommu)
                r = VERDICT(a, VERDICT_NONE, "no IOMMU translates the device's DMA, as far as /sys tells");
        else if (!allocates_iovas(a->device))
                r = VERDICT(a, VERDICT_NONE, "IOMMU group %s is of type %s, which allocates no IOVAs",
                            a->device->iommu->group, a->device->iommu->type);
        else if (plan_is_held(a->builder, a->device))
                r = VERDICT(a, VERDICT_HELD, "held as it was before the first write, until apply");
        else if (there && !a->setting)
                r = VERDICT(a, VERDICT_LEFT, "no rule of the policy sets %s for this device", a->knob);
        else if (there && (says(a->setting, keep) || says(node, "leave")))
                r = VERDICT(a, VERDICT_LEFT, "the policy says %s", says(a->setting, keep) ? keep : "leave");
        else
                return 0;
        return r < 0 ? r : 1;
}

/* Takes the text over; NULL = memory was short. */
static int add_change(const Ask *a, const Knob *k, const char *desired, char *text)
{
        Change c = {
                .plugin = plugin_iova.name,
                .knob = a->knob,
                .kind = k->kind,
                .path = strdup(k->path),
                .current = strdup(k->value),
                .desired = strdup(desired),
                .settable = k->settable,
                .irq = -1,
        };

        c.reason.text = text;
        return plan_add_change(a->builder, a->device, k->role, a->setting, &c);
}

/* The verdict on one file that is to read `desired`, which `text` (taken over) says the reason for. */
static int want(const Ask *a, const Knob *k, const char *desired, char *text)
{
        _cleanup_(freep) char *reason = text;
        int r;

        if (!reason)
                return -ENOMEM;
        if (plan_is_left(a->builder, k->path))
                return VERDICT(a, VERDICT_LEFT, "left to others: %s", reason);
        r = file_kind_equal(file_kind_find(k->kind), k->value, desired);
        if (r < 0)
                return r;
        if (r > 0)
                return VERDICT(a, VERDICT_RIGHT, "%s", reason);
        r = k->settable == SETTABLE_NO ? VERDICT(a, VERDICT_RIGHT, "the kernel refuses it: %s", reason)
                                       : VERDICT(a, VERDICT_CHANGES, "%s", reason);
        return r < 0 ? r : add_change(a, k, desired, STEAL_PTR(reason));
}

/* --- iova.depot --- */

static bool has_large_requests(const Device *d)
{
        for (size_t i = 0; i < d->n_knobs; i++)
                if (d->knobs[i].kind == WRITER_BLOCK_MAX_SECTORS &&
                    knob_number(&d->knobs[i], 0) > CACHED_KIB_MAX)
                        return true;
        return false;
}

/* What helps on a kernel without a limit, and how to see whether it does; continues a sentence. NULL when
 * memory is short. */
static char *what_else_helps(const Device *d)
{
        const char *domain = strcmp(d->iommu->type, "DMA") == 0 ? "; iova.domain: lazy helps here"
                             : *d->iommu->type                  ? "; its domain is lazy already"
                                                                : "";
        const char *requests = has_large_requests(d) ? "; iova.cacheable_io: on keeps its requests inside "
                                                       "the sizes that are cached"
                                                     : "";

        /* Where the type is not told, nobody measures. */
        return *d->iommu->type ? strf("%s%s; \"numaioctl measure %s\" counts what misses the caches", domain,
                                      requests, d->id)
                               : strdup(requests);
}

static int absent_depot(const Ask *a)
{
        _cleanup_(freep) char *more = what_else_helps(a->device);

        if (!more)
                return -ENOMEM;
        switch (plan_snapshot(a->builder)->depot) {
        case DEPOT_SELF_SCALING:
                return VERDICT(
                        a, VERDICT_ABSENT,
                        "this kernel's depots scale themselves (iova_depot_work_func): they need no limit%s",
                        more);
        case DEPOT_FIXED:
                return VERDICT(
                        a, VERDICT_ABSENT,
                        "this kernel's depots have a limit that is built in (32 magazines, when nobody "
                        "changed it): the patches in kernel/ provide one to set, and Linux 6.7 depots that "
                        "scale themselves%s",
                        more);
        case DEPOT_LIMITED:
                return VERDICT(
                        a, VERDICT_ABSENT,
                        "the limit of IOMMU group %s cannot be read: its domain is not set up, or is none "
                        "of the DMA API",
                        a->device->iommu->group);
        case DEPOT_UNKNOWN:
        case _DEPOT_KIND_MAX:
                break;
        }
        return VERDICT(
                a, VERDICT_ABSENT,
                "this kernel has no limit to set: the patches in kernel/ provide one, and Linux 6.7 depots "
                "that scale themselves%s",
                more);
}

static bool is_narrow(const Device *d)
{
        return d->iommu->dma_bits > 0 && d->iommu->dma_bits <= DMA32_BITS;
}

static char *depot_text(const Device *d, long magazines)
{
        bool narrow = is_narrow(d) && magazines >= DMA32_DEPOT;

        return strf(
                "depots of IOMMU group %s keep up to %ld magazines, which can take %.1f MiB of memory and "
                "%.1f GiB of IOVA space%s",
                d->iommu->group, magazines, iova_depot_mib(magazines), iova_depot_space_gib(magazines),
                narrow ? "; the device's DMA is 32 bits wide: that can be nearly all of its 4 GiB, and each "
                         "time that they run out, all caches are emptied"
                       : "");
}

static long twice(long level)
{
        return 2 * level;
}

static long half(long level)
{
        return level / 2;
}

static int read_counters(const Root *root, const char *path, ControlCounters *ret)
{
        IovaStats stats;
        IovaClass sum;
        int r;

        r = iova_stats_read_file(root, path, &stats);
        if (r < 0)
                return r;
        sum = iova_stats_sum(&stats);
        *ret = (ControlCounters) {
                .total = sum.alloc_cpu + sum.alloc_depot + sum.alloc_miss,
                .bad = sum.alloc_miss,
                .pressure = sum.free_drop,
        };
        return 0;
}

/* Half a percent of misses is no cliff; one that is there loses far more than a tenth of them by a step. */
static const ControlKind depot_control = {
        .total = "allocations",
        .bad = "misses",
        .pressure = "dropped_magazines",
        .threshold = CONTROL_WHOLE / 200,
        .gain = CONTROL_WHOLE / 10,
        .busy = 200,
        .up = twice,
        .down = half,
        .read = read_counters,
};

static long depot_max(const Ask *a)
{
        const Setting *set = policy_get(plan_policy(a->builder), a->device, "iova", "depot_max");
        long max = set ? set->number : DEPOT_MAX_DEFAULT;

        return is_narrow(a->device) && max >= DMA32_DEPOT ? DMA32_DEPOT - 1 : max;
}

/* The most that auto sets, and what that can cost; continues a sentence. NULL when memory is short. */
static char *depot_max_text(const Ask *a)
{
        long max = depot_max(a);

        return strf("at most %ld are set, which can take %.1f MiB of memory and %.1f GiB of IOVA space%s",
                    max, iova_depot_mib(max), iova_depot_space_gib(max),
                    is_narrow(a->device) ? ": the device's DMA is 32 bits wide, 4 GiB in all" : "");
}

static int control_depot(const Ask *a, const Knob *k)
{
        const long level = knob_number(k, plan_snapshot(a->builder)->depot_max);
        const ControlTarget *t = plan_target(a->builder, a->device, DEPOT);
        const IommuFacts *f = a->device->iommu;
        ControlWish w = { .knob = DEPOT, .kind = &depot_control, .level = level, .max = depot_max(a) };
        _cleanup_(freep) char *most = depot_max_text(a), *cost = NULL;
        char number[24];
        int r;

        if (!most)
                return -ENOMEM;
        if (f->stats.n == 0 && !t)
                return VERDICT(a, VERDICT_ABSENT,
                               "auto needs the counters of iova_stats, which IOMMU group %s lacks", f->group);
        if (plan_is_left(a->builder, k->path) || k->settable == SETTABLE_NO)
                return VERDICT(a, VERDICT_LEFT, "auto: left to others, who set %s", k->value);
        w.path = strdup(k->path);
        w.counters = strf("sys/kernel/iommu_groups/%s/iova_stats", f->group);
        w.first = plan_snapshot(a->builder)->depot_max;
        r = plan_add_wish(a->builder, a->device, &w);
        if (r < 0)
                return r;
        cost = depot_text(a->device, t ? t->level : level);
        if (!cost)
                return -ENOMEM;
        if (!t)
                return VERDICT(a, VERDICT_RIGHT, "auto: %s; %s; %s", plan_no_target(a->builder), cost, most);
        snprintf(number, sizeof(number), "%ld", t->level);
        return want(a, k, number, strf("auto: %s; %s; %s", t->text, cost, most));
}

static int plan_depot(PlanBuilder *b, const Device *d)
{
        const Ask a = { b, d, DEPOT, policy_get(plan_policy(b), d, "iova", "depot") };
        const Knob *k = device_knob(d, WRITER_IOVA_DEPOT);
        char number[24];
        int r;

        r = settle(&a, "keep", k);
        if (r != 0)
                return r < 0 ? r : 0;
        if (!k)
                return absent_depot(&a);
        if (d->iommu->functions > 1)
                return VERDICT(&a, VERDICT_ABSENT,
                               "IOMMU group %s holds %u devices, whose limit is one: none of them decides it",
                               d->iommu->group, d->iommu->functions);
        if (says(a.setting, "auto"))
                return control_depot(&a, k);
        snprintf(number, sizeof(number), "%ld", a.setting->number);
        return want(&a, k, number, depot_text(d, a.setting->number));
}

/* --- iova.domain --- */

static int plan_domain(PlanBuilder *b, const Device *d)
{
        const Ask a = { b, d, DOMAIN, policy_get(plan_policy(b), d, "iova", "domain") };
        const Knob *k = device_knob(d, WRITER_IOMMU_TYPE);
        int r;

        r = settle(&a, "keep", k);
        if (r != 0)
                return r < 0 ? r : 0;
        if (!k)
                return VERDICT(&a, VERDICT_ABSENT,
                               "this kernel does not tell the type of an IOMMU group; Linux 5.11 does");
        if (strcmp(k->value, "DMA") == 0 && d->iommu->devices > 1)
                return VERDICT(&a, VERDICT_ABSENT,
                               "IOMMU group %s holds %u devices, and the kernel changes groups of one alone; "
                               "booting with iommu.strict=0 makes all of them lazy",
                               d->iommu->group, d->iommu->devices);
        return want(
                &a, k, "DMA-FQ",
                strf("IOMMU group %s is lazy: what is unmapped is flushed in batches; it can be made strict "
                     "again only while no driver is bound, or by the next boot",
                     d->iommu->group));
}

/* --- iova.cacheable_io --- */

static int shrink_requests(const Ask *a)
{
        const Device *d = a->device;
        unsigned n = 0, small = 0, changes = 0;
        int r;

        for (size_t i = 0; i < d->n_knobs; i++) {
                const Knob *k = &d->knobs[i];

                if (k->kind != WRITER_BLOCK_MAX_SECTORS)
                        continue;
                n++;
                small += knob_number(k, 0) <= CACHED_KIB_MAX;
                if (knob_number(k, 0) <= CACHED_KIB_MAX || plan_is_left(a->builder, k->path))
                        continue;
                r = add_change(a, k, CACHED_KIB,
                               strf("requests of at most " CACHED_KIB
                                    " KiB are mapped out of the IOVA caches; larger ones are split"));
                if (r < 0)
                        return r;
                changes += k->settable != SETTABLE_NO;
        }
        if (n == 0)
                return VERDICT(a, VERDICT_NONE, "no disk lies below this device");
        if (changes)
                return VERDICT(a, VERDICT_CHANGES,
                               "%u of %u disks get requests of at most " CACHED_KIB " KiB", changes, n);
        return VERDICT(a, VERDICT_RIGHT, "%u of %u disks have requests of at most " CACHED_KIB " KiB", small,
                       n);
}

static int plan_cacheable(PlanBuilder *b, const Device *d)
{
        const Ask a = { b, d, CACHEABLE, policy_get(plan_policy(b), d, "iova", "cacheable_io") };
        int r;

        r = d->disk_paths.n == 0 ? VERDICT(&a, VERDICT_NONE, "no disk lies below this device")
                                 : settle(&a, "off", true);
        if (r != 0 || d->disk_paths.n == 0)
                return r < 0 ? r : 0;
        return shrink_requests(&a);
}

static int plan_iova(PlanBuilder *b, const Device *d)
{
        int r;

        r = plan_depot(b, d);
        if (r >= 0)
                r = plan_domain(b, d);
        return r < 0 ? r : plan_cacheable(b, d);
}

static const char *const knobs[] = { DEPOT, DOMAIN, CACHEABLE, NULL };

const Plugin plugin_iova = {
        .name = "iova",
        .knobs = knobs,
        .help = "Cost of mapping memory for DMA behind an IOMMU",
        .keys = plugin_iova_keys,
        .n_keys = ARRAY_SIZE(plugin_iova_keys),
        .complete = complete,
        .plan = plan_iova,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iommu.h"

#include "observe/iova-stats.h"
#include "observe/names.h"

#include <errno.h>
#include <string.h>

#define GROUPS "sys/kernel/iommu_groups"

int observe_depot_max(const Root *root, Snapshot *s)
{
        int max, r;

        r = root_read_int(root, &max, "sys/module/iova/parameters/depot_max");
        if (r == -ENOMEM)
                return r;
        if (r >= 0 && max > 0) {
                s->depot = DEPOT_LIMITED;
                s->depot_max = max;
        }
        return 0;
}

int observe_depot_kind(const Root *root, SymbolMemo *memo, Snapshot *s)
{
        int r;

        if (s->depot == DEPOT_LIMITED)
                return 0;
        r = symbols_ask(root, memo);
        if (r >= 0 && memo->told)
                s->depot = memo->has[SYMBOL_DEPOT_WORK] ? DEPOT_SELF_SCALING : DEPOT_FIXED;
        return r;
}

static int count_members(const Root *root, IommuFacts *f)
{
        Strv members = { 0 };
        int r;

        r = root_list(root, &members, GROUPS "/%s/devices", f->group);
        f->devices = f->functions = (unsigned)members.n;
        for (size_t i = 0; r >= 0 && members.n > 1 && i < members.n; i++) {
                _cleanup_(freep) char *class = NULL;

                r = root_read_value(root, &class, GROUPS "/%s/devices/%s/class", f->group, members.items[i]);
                /* Base class 06: bridges, which do no DMA of their own. */
                f->functions -= r >= 0 && strncmp(class, "0x06", 4) == 0;
                r = r == -ENOMEM ? r : 0;
        }
        strv_clear(&members);
        return r == -ENOMEM ? r : 0;
}

static int fill_facts(const Root *root, const Device *d, IommuFacts *f)
{
        const Knob *type = device_knob(d, WRITER_IOMMU_TYPE);
        int bits, r;

        f->type = strdup(type ? type->value : "");
        if (!f->type)
                return -ENOMEM;
        r = count_members(root, f);
        if (r >= 0 && root_read_int(root, &bits, "%s/dma_mask_bits", d->path) >= 0 && bits > 0)
                f->dma_bits = (unsigned)bits;
        if (r >= 0)
                r = iova_stats_read(root, f->group, &f->stats);
        return r == -ENOMEM ? r : 0;
}

static int add_group_knobs(const Root *root, const Refusals *refusals, Device *d)
{
        _cleanup_(freep) char *type = strf(GROUPS "/%s/type", d->iommu->group),
                              *depot = strf(GROUPS "/%s/iova_depot_max", d->iommu->group);
        int r;

        if (!type || !depot)
                return -ENOMEM;
        r = observe_knob(root, refusals, d, WRITER_IOMMU_TYPE, "type", type);
        if (r >= 0)
                r = observe_knob(root, refusals, d, WRITER_IOVA_DEPOT, "iova_depot_max", depot);
        return r < 0 ? r : 0;
}

/* --- disks --- */

/* Place of a SCSI host among those of the device, from 1; its number changes from boot to boot. */
static unsigned host_ordinal(const Device *d, int host)
{
        unsigned before = 0;

        for (size_t i = 0; i < d->n_scsi_hosts; i++)
                before += d->scsi_hosts[i] < host;
        return before + 1;
}

/* The folder above "block" is named after the SCSI address "2:0:1:0". */
static bool scsi_address(const char *path, int *ret_host, char *rest, size_t size)
{
        const char *block = strstr(path, "/block/"), *name = block;
        unsigned host, channel, target, lun;
        int n = 0;

        while (name && name > path && name[-1] != '/')
                name--;
        if (!name || sscanf(name, "%u:%u:%u:%u%n", &host, &channel, &target, &lun, &n) != 4 ||
            name + n != block)
                return false;
        *ret_host = (int)host;
        snprintf(rest, size, "%u:%u:%u", channel, target, lun);
        return true;
}

static void stem_of_disk(const Device *d, const char *path, char *ret, size_t size)
{
        const char *name = strrchr(path, '/') + 1, *last = strrchr(name, 'n');
        char rest[48];
        int host;

        if (scsi_address(path, &host, rest, sizeof(rest))) {
                unsigned ordinal = host_ordinal(d, host);

                if (ordinal > 1)
                        snprintf(ret, size, "%s#%u", rest, ordinal);
                else
                        snprintf(ret, size, "%s", rest);
        } else if (strncmp(name, "nvme", 4) == 0 && name_number(last, "n", NULL)) {
                snprintf(ret, size, "ns%s", last + 1);
        } else {
                snprintf(ret, size, "disk");
        }
}

static bool role_is_taken(const Device *d, const char *role)
{
        for (size_t i = 0; i < d->n_knobs; i++)
                if (strcmp(d->knobs[i].role, role) == 0)
                        return true;
        return false;
}

static int add_disk(const Root *root, const Refusals *refusals, Device *d, const char *folder)
{
        _cleanup_(freep) char *path = strf("%s/queue/max_sectors_kb", folder);
        char stem[64], role[80];
        int r;

        if (!path)
                return -ENOMEM;
        stem_of_disk(d, folder, stem, sizeof(stem));
        snprintf(role, sizeof(role), "%s", stem);
        for (unsigned n = 2; role_is_taken(d, role); n++)
                snprintf(role, sizeof(role), "%s#%u", stem, n);
        r = observe_knob(root, refusals, d, WRITER_BLOCK_MAX_SECTORS, role, path);
        return r < 0 ? r : 0;
}

static int add_disks(const Root *root, const Refusals *refusals, Device *d)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < d->disk_paths.n; i++)
                r = add_disk(root, refusals, d, d->disk_paths.items[i]);
        return r;
}

int observe_iommu(const Root *root, const Refusals *refusals, Device *d)
{
        _cleanup_(freep) char *group = NULL;
        int r;

        r = root_read_link_name(root, &group, "%s/iommu_group", d->path);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        d->iommu = calloc(1, sizeof(*d->iommu));
        if (!d->iommu)
                return -ENOMEM;
        d->iommu->group = STEAL_PTR(group);
        r = add_group_knobs(root, refusals, d);
        if (r >= 0)
                r = fill_facts(root, d, d->iommu);
        if (r >= 0 && strncmp(d->iommu->type, "DMA", 3) == 0)
                r = add_disks(root, refusals, d);
        return r;
}

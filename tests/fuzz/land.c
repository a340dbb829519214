/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "land.h"

#include "basic/strv.h"
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define QUEUES "root/sys/devices/virtual/workqueue/"
#define BAIT   "this is bait\n"
#define PCI    "root/sys/bus/pci/devices/"

const char *const land_paths[] = {
        "proc/irq/30/smp_affinity_list",
        "proc/irq/31/smp_affinity_list",
        "proc/irq/9/smp_affinity_list",
        "sys/devices/virtual/workqueue/iscsi_q_0/cpumask",
        "sys/devices/virtual/workqueue/nvme-wq/cpumask",
        "proc/irq/40/smp_affinity_list",
        "proc/irq/41/smp_affinity_list",
        "proc/irq/42/smp_affinity_list",
        "proc/irq/43/smp_affinity_list",
        "proc/irq/44/smp_affinity_list",
        "proc/irq/46/smp_affinity_list",
        "sys/devices/virtual/workqueue/inside/cpumask",
        "sys/devices/virtual/workqueue/outside/cpumask",
        "sys/devices/virtual/workqueue/cpumask",
        "sys/devices/virtual/workqueue/../cpumask",
        "sys/devices/virtual/workqueue/iscsi_q_0/numa",
        "proc/irq/default_smp_affinity",
        "proc/irq/45/smp_affinity",
        "proc/irq/45/effective_affinity_list",
        "proc/irq/../sys/kernel/core_pattern",
        "proc/sys/kernel/core_pattern",
        "bait/smp_affinity_list",
        "../outside/smp_affinity_list",
        "/proc/irq/30/smp_affinity_list",
        "proc/irq/030/smp_affinity_list",
        "proc/irq/30/../31/smp_affinity_list",
        "proc/irq/99/smp_affinity_list",
        "sys/kernel/irq/30/hwirq",
        "",
        "run/irqbalance/irqbalance12.sock",
        "run/irqbalance/irqbalance13.sock",
        "run/irqbalance/irqbalance14.sock",
        "@irqbalance12.sock",
};
const size_t land_n_paths = ARRAY_SIZE(land_paths);

static const Object objects[] = {
        { "proc/irq/30", "smp_affinity_list", "sys/kernel/irq/30", "0-7", WRITER_IRQ_AFFINITY },
        { "proc/irq/31", "smp_affinity_list", "sys/kernel/irq/31", "0-7", WRITER_IRQ_AFFINITY },
        { "proc/irq/9", "smp_affinity_list", NULL, "0", WRITER_IRQ_AFFINITY },
        { "sys/devices/virtual/workqueue/iscsi_q_0", "cpumask", NULL, "ff", WRITER_WORKQUEUE_CPUMASK },
        { "sys/devices/virtual/workqueue/nvme-wq", "cpumask", NULL, "00000001,ffffffff",
          WRITER_WORKQUEUE_CPUMASK },
};

static const char *const bait[] = {
        "root/proc/irq/default_smp_affinity",
        "root/proc/irq/45/smp_affinity",
        "root/proc/irq/45/effective_affinity_list",
        "root/proc/sys/kernel/core_pattern",
        QUEUES "cpumask",
        "root/bait/smp_affinity_list",
        "root/bait/cpumask",
        "root/cpumask",
        "root/run/irqbalance/irqbalance12.sock",
        "root/outside/smp_affinity_list",
        "outside/smp_affinity_list",
        "outside/cpumask",
};

static const struct {
        const char *path, *target;
} links[] = {
        { "root/proc/irq/40/smp_affinity_list", "../../../bait/smp_affinity_list" },
        { "root/proc/irq/41", "30" },
        { "root/proc/irq/42", "/bait" },
        { "root/proc/irq/43", "../../../../outside" },
        { "root/proc/irq/46/smp_affinity_list", "../../irq/31/smp_affinity_list" },
        { QUEUES "inside", "../../../../bait" },
        { "root/run/irqbalance/irqbalance13.sock", "../../../outside/cpumask" },
        { PCI "0000:22:00.0/driver", "../../drivers/ahci" },
};

/* The first function has message interrupts, the second one a line, the third one no driver. */
static const char *const functions[] = {
        PCI "0000:21:00.0/msi_irqs/30",
        PCI "0000:21:00.0/msi_irqs/9",
        PCI "0000:23:00.0/class",
        "root/sys/bus/pci/drivers/ahci/bind",
};

bool land_owns(const char *device, const char *path)
{
        if (strncmp(device, "pci:", 4) != 0 || strncmp(path, "proc/", 5) != 0)
                return true;
        if (strcmp(device, "pci:0000:21:00.0") == 0)
                return strncmp(path, "proc/irq/30/", 12) == 0 || strncmp(path, "proc/irq/9/", 11) == 0;
        return strcmp(device, "pci:0000:22:00.0") == 0;
}

static char *path_of(const Land *l, const char *path)
{
        char *full = strf("%s/%s", l->dir, path);

        FUZZ_REQUIRE(full);
        return full;
}

static void make_folders(const Land *l, char *full)
{
        for (char *slash = full + strlen(l->dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
                *slash = '\0';
                FUZZ_REQUIRE(mkdir(full, 0755) == 0 || errno == EEXIST);
        }
}

static void put_file(const Land *l, const char *path, const char *text)
{
        _cleanup_(freep) char *full = path_of(l, path);
        _cleanup_(closep) int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (fd < 0) {
                make_folders(l, full);
                fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        }
        FUZZ_REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static char *read_file(const Land *l, const char *path)
{
        _cleanup_(freep) char *full = path_of(l, path);
        _cleanup_(closep) int fd = open(full, O_RDONLY | O_CLOEXEC);
        char *text = NULL;
        struct stat st;

        if (fd < 0)
                return NULL;
        FUZZ_REQUIRE(fstat(fd, &st) == 0);
        text = calloc(1, (size_t)st.st_size + 1);
        FUZZ_REQUIRE(text && read(fd, text, (size_t)st.st_size) == st.st_size);
        return text;
}

static void put_link(const Land *l, const char *path, const char *target)
{
        _cleanup_(freep) char *full = path_of(l, path);

        make_folders(l, full);
        FUZZ_REQUIRE(symlink(target, full) == 0);
}

static char *knob_of(const Object *o)
{
        char *path = strf("root/%s/%s", o->folder, o->file);

        FUZZ_REQUIRE(path);
        return path;
}

static void put_facts(const Land *l, const Object *o, unsigned hwirq)
{
        _cleanup_(freep) char *path = strf("root/%s/hwirq", o->facts), *chip = NULL;
        _cleanup_(freep) char *text = strf("%u\n", hwirq);

        put_file(l, path, text);
        chip = strf("root/%s/chip_name", o->facts);
        put_file(l, chip, "IR-PCI-MSI\n");
}

void land_put(const Land *l, const Object *o, const char *value)
{
        _cleanup_(freep) char *knob = knob_of(o);

        if (!o->gone)
                put_file(l, knob, value);
}

static void make_object(const Land *l, Object *o, unsigned hwirq)
{
        o->gone = false;
        land_put(l, o, o->value);
        if (o->facts)
                put_facts(l, o, hwirq);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
        return remove(path);
}

static void remove_folder(const char *path)
{
        FUZZ_REQUIRE(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT);
}

void land_make(Land *l)
{
        const char *top = getenv("TMPDIR");
        _cleanup_(freep) char *outside = NULL;

        snprintf(l->dir, sizeof(l->dir), "%s/numaio-fuzz-XXXXXX", top && *top ? top : "/tmp");
        FUZZ_REQUIRE(mkdtemp(l->dir));
        snprintf(l->root, sizeof(l->root), "%s/root", l->dir);
        for (size_t i = 0; i < ARRAY_SIZE(bait); i++)
                put_file(l, bait[i], BAIT);
        for (size_t i = 0; i < ARRAY_SIZE(links); i++)
                put_link(l, links[i].path, links[i].target);
        outside = path_of(l, "outside");
        put_link(l, QUEUES "outside", outside);
        put_file(l, "root/proc/irq/44/smp_affinity_list/a-folder", BAIT);
        for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
                put_file(l, functions[i], "");
        put_file(l, "aside/empty", "");
        for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
                l->objects[i] = objects[i];
                make_object(l, &l->objects[i], 100 + (unsigned)i);
        }
}

void land_remove(const Land *l)
{
        remove_folder(l->dir);
}

Object *land_find(Land *l, const char *path)
{
        for (size_t i = 0; i < ARRAY_SIZE(l->objects); i++)
                if (strcmp(land_paths[i], path) == 0)
                        return &l->objects[i];
        return NULL;
}

char *land_read(const Land *l, const Object *o)
{
        _cleanup_(freep) char *knob = knob_of(o);
        char *text = read_file(l, knob);
        size_t n = text ? strlen(text) : 0;

        while (n > 0 && strchr(" \t\n", text[n - 1]))
                text[--n] = '\0';
        return text;
}

static void put_aside(Land *l, const char *folder)
{
        _cleanup_(freep) char *path = strf("%s/%s", l->root, folder);
        _cleanup_(freep) char *aside = strf("%s/aside/%u", l->dir, l->n_aside++);

        FUZZ_REQUIRE(rename(path, aside) == 0);
}

static void forget(Object *o)
{
        free(o->first);
        o->first = NULL;
        o->touched = false;
}

void land_take_away(Land *l, Object *o)
{
        if (o->gone)
                return;
        put_aside(l, o->folder);
        if (o->facts)
                put_aside(l, o->facts);
        o->gone = o->changed = true;
        forget(o);
}

void land_replace(Land *l, Object *o)
{
        if (o->facts && !o->gone)
                put_facts(l, o, 1000 + l->n_aside++);
        else {
                land_take_away(l, o);
                make_object(l, o, 1000 + l->n_aside++);
        }
        o->changed = true;
        forget(o);
}

void land_reset(Land *l)
{
        bool aside = false;

        for (size_t i = 0; i < ARRAY_SIZE(l->objects); i++) {
                Object *o = &l->objects[i];

                if (o->changed)
                        land_take_away(l, o);
                aside = aside || o->changed;
                make_object(l, o, 100 + (unsigned)i);
                o->changed = false;
                forget(o);
        }
        if (aside) {
                _cleanup_(freep) char *folder = path_of(l, "aside");

                remove_folder(folder);
                FUZZ_REQUIRE(mkdir(folder, 0755) == 0);
        }
        l->n_aside = 0;
}

void land_check_bait(const Land *l)
{
        for (size_t i = 0; i < ARRAY_SIZE(bait); i++) {
                _cleanup_(freep) char *text = read_file(l, bait[i]);

                FUZZ_REQUIRE(text && strcmp(text, BAIT) == 0);
        }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/knob-file.h"

#include "basic/parse.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

void knob_file_clear(KnobFile *f)
{
        free(f->role);
        free(f->current);
        *f = (KnobFile) { 0 };
}

static bool irq_file(const char *path, unsigned *ret_irq, const char **ret_name)
{
        static const char prefix[] = "proc/irq/";
        const char *number = path + strlen(prefix);
        unsigned long irq;
        char *end;

        if (strncmp(path, prefix, strlen(prefix)) != 0 || !isdigit((unsigned char)*number))
                return false;
        irq = strtoul(number, &end, 10);
        if (irq > UINT32_MAX || *end != '/')
                return false;
        *ret_irq = (unsigned)irq;
        *ret_name = end + 1;
        return true;
}

bool irq_of_path(const char *path, unsigned *ret)
{
        const char *name;
        unsigned irq;

        if (!irq_file(path, &irq, &name) ||
            (strcmp(name, "smp_affinity") != 0 && strcmp(name, "smp_affinity_list") != 0))
                return false;
        *ret = irq;
        return true;
}

bool workqueue_is_at(const Workqueue *w, const char *path)
{
        size_t n = strlen(w->path);

        return strncmp(path, w->path, n) == 0 && strcmp(path + n, "/cpumask") == 0;
}

/* Workqueues named after the SCSI host that they serve; what may follow the number. */
static const struct {
        const char *prefix, *after;
} host_names[] = {
        { "scsi_tmf_", "" },   /* error handling, every host: drivers/scsi/hosts.c */
        { "scsi_wq_", "" },    /* transports with work of their own: drivers/scsi/hosts.c */
        { "iscsi_q_", "" },    /* transmit work: drivers/scsi/libiscsi.c */
        { "iscsi_ctrl_", ":" } /* one per session, "HOST:SID": drivers/scsi/scsi_transport_iscsi.c */
};

int workqueue_host(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(host_names); i++) {
                size_t n = strlen(host_names[i].prefix), digits;
                char number[16];
                unsigned host;

                if (strncmp(name, host_names[i].prefix, n) != 0)
                        continue;
                digits = strspn(name + n, "0123456789");
                if (digits == 0 || digits >= sizeof(number) || name[n + digits] != host_names[i].after[0])
                        return -1;
                memcpy(number, name + n, digits);
                number[digits] = '\0';
                return parse_unsigned(number, &host) < 0 ? -1 : (int)host;
        }
        return -1;
}

/* "iscsi_q_4" is "iscsi_q", "iscsi_ctrl_4:1" is "iscsi_ctrl": host and session numbers are no keys. */
static size_t kind_length(const char *name)
{
        size_t n = strcspn(name, "0123456789");

        return n > 1 && name[n] && name[n - 1] == '_' ? n - 1 : strlen(name);
}

char *workqueue_role(const Snapshot *s, size_t workqueue)
{
        const Workqueue *w = &s->workqueues[workqueue];
        size_t length = kind_length(w->name);
        unsigned ordinal = 0;

        for (size_t i = 0; i < workqueue; i++) {
                const Workqueue *o = &s->workqueues[i];

                if (o->device == w->device && kind_length(o->name) == length &&
                    strncmp(o->name, w->name, length) == 0)
                        ordinal++;
        }
        return ordinal ? strf("%.*s#%u", (int)length, w->name, ordinal + 1)
                       : strf("%.*s", (int)length, w->name);
}

/* Takes over both strings. */
static int fill(char *role, char *current, KnobFile *ret)
{
        KnobFile f = { .role = role, .current = current };

        if (!role || !current) {
                knob_file_clear(&f);
                return -ENOMEM;
        }
        *ret = f;
        return 1;
}

int device_find_file(const Snapshot *s, const Device *d, const char *path, KnobFile *ret)
{
        const char *name;
        unsigned irq;

        if (irq_file(path, &irq, &name)) {
                for (size_t i = 0; strcmp(name, "smp_affinity_list") == 0 && i < d->n_vectors; i++)
                        if (d->vectors[i].irq == irq)
                                return fill(strdup(d->vectors[i].key),
                                            cpuset_format_list(d->vectors[i].affinity), ret);
                return 0;
        }
        for (size_t i = 0; i < d->n_knobs; i++)
                if (strcmp(d->knobs[i].path, path) == 0)
                        return fill(strdup(d->knobs[i].role), strdup(d->knobs[i].value), ret);
        for (size_t i = 0; i < s->n_workqueues; i++) {
                const Workqueue *w = &s->workqueues[i];

                if (w->device >= 0 && &s->devices[w->device] == d && !w->per_cpu && workqueue_is_at(w, path))
                        return fill(workqueue_role(s, i), cpuset_format_mask(w->cpumask, s->cpu_bits), ret);
        }
        return 0;
}

int snapshot_change_is_at(const Snapshot *s, const char *id, const char *path)
{
        for (size_t i = 0; i < s->n_devices; i++) {
                const Device *d = &s->devices[i];
                size_t n = strlen(d->id);
                KnobFile f = { 0 };
                int r;

                if (strncmp(id, d->id, n) != 0 || id[n] != '~')
                        continue;
                r = device_find_file(s, d, path, &f);
                if (r > 0)
                        r = strcmp(strrchr(id, '~') + 1, f.role) == 0;
                knob_file_clear(&f);
                return r;
        }
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "basic/error.h"
#include "basic/parse.h"
#include "model/knob-file.h"
#include "observe/interrupts.h"
#include "observe/line.h"
#include "observe/managed.h"
#include "observe/names.h"
#include "observe/observe.h"
#include "observe/role.h"

#include <errno.h>
#include <string.h>

typedef struct Refusal {
        unsigned irq;
        int error;
} Refusal;

typedef struct Reader {
        const Root *root;
        Refusal *refusals; /* in order of IRQ */
        size_t n_refusals;
        Interrupts interrupts; /* empty unless needed */
        bool by_lines;         /* no function shows msi_irqs: /proc/interrupts tells the owners */
        bool have_lines;
        ManagedBasis basis;
} Reader;

/* IRQ numbers of one function. */
typedef struct Irqs {
        unsigned *items;
        size_t n;
        bool listed; /* in its folder msi_irqs */
} Irqs;

static int add_irq(Irqs *irqs, unsigned irq)
{
        unsigned *slot = ARRAY_APPEND(irqs->items, irqs->n);

        if (!slot)
                return -ENOMEM;
        *slot = irq;
        return 0;
}

static int compare_irq(const void *a, const void *b)
{
        unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

        return x < y ? -1 : x > y;
}

static int take_refusals(Reader *r, const KnownRefusal *refusals, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                Refusal *slot, one = { .error = refusals[i].error };

                if (!error_is_refusal(one.error) || !irq_of_path(refusals[i].path, &one.irq))
                        continue;
                slot = ARRAY_APPEND(r->refusals, r->n_refusals);
                if (!slot)
                        return -ENOMEM;
                *slot = one;
        }
        if (r->n_refusals > 1)
                qsort(r->refusals, r->n_refusals, sizeof(*r->refusals), compare_irq);
        return 0;
}

static int known_refusal(const Reader *r, unsigned irq)
{
        const Refusal *found =
                r->n_refusals ? bsearch(&irq, r->refusals, r->n_refusals, sizeof(*r->refusals), compare_irq)
                              : NULL;

        return found ? found->error : 0;
}

static int load_lines(Reader *r)
{
        int k;

        if (r->have_lines)
                return 0;
        r->have_lines = true;
        k = interrupts_read(r->root, &r->interrupts);
        return k == -ENOMEM ? k : 0;
}

/* Entries are files, in Linux 3.x folders. */
static int irqs_of_folder(const Reader *r, const Device *d, Irqs *irqs)
{
        Strv names = { 0 };
        unsigned irq;
        int k;

        k = root_list(r->root, &names, "%s/msi_irqs", d->path);
        for (size_t i = 0; k >= 0 && i < names.n; i++)
                if (parse_unsigned(names.items[i], &irq) >= 0)
                        k = add_irq(irqs, irq);
        strv_clear(&names);
        irqs->listed = irqs->n > 0;
        return k == -ENOMEM ? k : 0;
}

static int irqs_of_lines(const Reader *r, const Device *d, Irqs *irqs)
{
        uint64_t function;
        int k = 0;

        if (pci_address(d->pci, &function) == 0)
                return 0;
        for (size_t i = 0; k >= 0 && i < r->interrupts.n_lines; i++) {
                const InterruptLine *line = &r->interrupts.lines[i];

                if (line->has_function && line->function == function)
                        k = add_irq(irqs, line->irq);
        }
        return k;
}

static int find_msi(const Reader *r, const Device *d, Irqs *irqs)
{
        int k;

        k = r->by_lines ? irqs_of_lines(r, d, irqs) : irqs_of_folder(r, d, irqs);
        if (irqs->n > 1)
                qsort(irqs->items, irqs->n, sizeof(*irqs->items), compare_irq);
        return k;
}

static bool is_irq_file(const char *name)
{
        static const char *const files[] = {
                "affinity_hint",     "effective_affinity", "effective_affinity_list", "node", "smp_affinity",
                "smp_affinity_list", "spurious",
        };

        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                if (strcmp(files[i], name) == 0)
                        return true;
        return false;
}

static char *join(const char *a, const char *b)
{
        return a ? strf("%s, %s", a, b) : strdup(b);
}

/* The folders of proc/irq/N are named after the actions. *ret stays NULL when there is none; -ENOENT = there
 * is no such IRQ. */
static int actions_of_folder(const Root *root, unsigned irq, char **ret)
{
        _cleanup_(freep) char *text = NULL;
        Strv names = { 0 };
        int r;

        r = root_list(root, &names, "proc/irq/%u", irq);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                char *longer;

                if (is_irq_file(names.items[i]))
                        continue;
                longer = join(text, names.items[i]);
                free(text);
                text = longer;
                r = text ? 0 : -ENOMEM;
        }
        strv_clear(&names);
        if (r >= 0)
                *ret = STEAL_PTR(text);
        return r;
}

/* "a,b": a name that cannot be a folder is only here. *ret stays NULL when there is none. */
static int actions_of_file(const Root *root, unsigned irq, char **ret)
{
        _cleanup_(freep) char *text = NULL, *joined = NULL;
        char *save = NULL;
        int r;

        r = root_read_value(root, &text, "sys/kernel/irq/%u/actions", irq);
        if (r < 0)
                return r;
        for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
                char *longer = join(joined, word);

                free(joined);
                joined = longer;
                if (!joined)
                        return -ENOMEM;
        }
        *ret = STEAL_PTR(joined);
        return 0;
}

/* In a capture without both. */
static int actions_of_lines(Reader *r, unsigned irq, char **ret)
{
        const InterruptLine *line;
        int k;

        k = load_lines(r);
        if (k < 0)
                return k;
        line = interrupts_find(&r->interrupts, irq);
        if (!line)
                return -ENOENT;
        if (!line->action[0])
                return 0;
        *ret = strdup(line->action);
        return *ret ? 0 : -ENOMEM;
}

/* The actions' names; *ret stays NULL when nobody requested the interrupt. The file costs least. Only the
 * folders tell where one of several names ends that may hold commas themselves. */
static int read_action(Reader *r, unsigned irq, char **ret)
{
        _cleanup_(freep) char *text = NULL;
        int k;

        k = actions_of_file(r->root, irq, &text);
        if (k == -ENOMEM)
                return k;
        if (k < 0 || (text && strchr(text, ','))) {
                int l = actions_of_folder(r->root, irq, ret);

                if (l == -ENOMEM || *ret)
                        return l;
        }
        if (k < 0)
                k = actions_of_lines(r, irq, &text);
        *ret = STEAL_PTR(text);
        return k == -ENOENT ? 0 : k;
}

/* All actions of an interrupt that may be shared. The folders come last: two actions of one name are one
 * folder, and it keeps the name that a netdev had before it was renamed. */
static int read_all_actions(Reader *r, unsigned irq, char **ret)
{
        int k;

        k = actions_of_file(r->root, irq, ret);
        if (k < 0 && k != -ENOMEM)
                k = actions_of_lines(r, irq, ret);
        if (k < 0 && k != -ENOMEM)
                k = actions_of_folder(r->root, irq, ret);
        return k;
}

/* The line interrupt that a function requested for itself alone, 0 = none. */
static int line_of(Reader *r, const Device *d, unsigned *ret)
{
        _cleanup_(freep) char *action = NULL;
        int irq, k;

        *ret = 0;
        if (root_read_int(r->root, &irq, "%s/irq", d->path) < 0 || irq <= 0)
                return 0;
        k = read_all_actions(r, (unsigned)irq, &action);
        if (k < 0 || !action)
                return k == -ENOMEM ? k : 0;
        if (!strchr(action, ',') && line_is_of_function(r->root, d, action))
                *ret = (unsigned)irq;
        return 0;
}

static bool is_claimed_twice(const unsigned *lines, size_t n, unsigned irq)
{
        size_t found = 0;

        for (size_t i = 0; i < n; i++)
                found += lines[i] == irq;
        return found > 1;
}

/* Gives functions without MSI their line interrupts. One that is shared belongs to nobody. */
static int add_lines(Reader *r, const Snapshot *s, Irqs *irqs)
{
        _cleanup_(freep) unsigned *lines = calloc(s->n_devices + 1, sizeof(*lines));
        int k = lines ? 0 : -ENOMEM;

        for (size_t i = 0; k >= 0 && i < s->n_devices; i++)
                if (irqs[i].n == 0)
                        k = line_of(r, &s->devices[i], &lines[i]);
        for (size_t i = 0; k >= 0 && i < s->n_devices; i++)
                if (lines[i] && !is_claimed_twice(lines, s->n_devices, lines[i]))
                        k = add_irq(&irqs[i], lines[i]);
        return k;
}

static int read_affinity(const Root *root, Vector *v)
{
        mode_t mode = 0644;
        int r;

        r = root_read_cpulist_and_mode(root, &v->affinity, &mode, "proc/irq/%u/smp_affinity_list", v->irq);
        if (r < 0 && r != -ENOMEM)
                r = root_read_cpumask(root, &v->affinity, "proc/irq/%u/smp_affinity", v->irq);
        if (r < 0)
                return r;
        r = root_read_cpulist(root, &v->effective, "proc/irq/%u/effective_affinity_list", v->irq);
        if (r < 0) {
                v->effective = cpuset_new(1);
                if (!v->effective)
                        return -ENOMEM;
        }
        v->pending = !cpuset_is_subset(v->effective, v->affinity);
        if (!(mode & 0222)) {
                v->managed = true;
                v->settable = SETTABLE_NO;
        }
        return 0;
}

static int read_vector(Reader *r, unsigned irq, size_t index, Vector *v)
{
        int k;

        v->irq = irq;
        v->index = (unsigned)index;
        v->queue = -1;
        k = read_action(r, irq, &v->action);
        if (k < 0)
                return k;
        if (!v->action)
                return -ENOENT;
        k = read_affinity(r->root, v);
        if (k < 0)
                return k;
        v->refused = known_refusal(r, irq);
        if (v->refused)
                v->settable = SETTABLE_NO;
        return 0;
}

static bool has_irq(const Irqs *irqs, unsigned irq)
{
        for (size_t i = 0; i < irqs->n; i++)
                if (irqs->items[i] == irq)
                        return true;
        return false;
}

/* What was read of an interrupt that the function no longer lists may be another's: numbers are reused. */
static int drop_lost(const Reader *r, Device *d)
{
        Irqs now = { 0 };
        size_t kept = 0;
        int k;

        k = irqs_of_folder(r, d, &now);
        for (size_t i = 0; k >= 0 && i < d->n_vectors; i++) {
                if (has_irq(&now, d->vectors[i].irq))
                        d->vectors[kept++] = d->vectors[i];
                else
                        vector_clear(&d->vectors[i]);
        }
        if (k >= 0)
                d->n_vectors = kept;
        free(now.items);
        return k;
}

static int read_device(Reader *r, Device *d, const Irqs *irqs)
{
        int k = 0;

        for (size_t i = 0; k >= 0 && i < irqs->n; i++) {
                Vector v = { 0 }, *slot;

                k = read_vector(r, irqs->items[i], i, &v);
                if (k >= 0) {
                        slot = ARRAY_APPEND(d->vectors, d->n_vectors);
                        if (slot)
                                *slot = v;
                        else
                                k = -ENOMEM;
                }
                if (k < 0)
                        vector_clear(&v);
                if (k != -ENOMEM)
                        k = 0; /* not requested, or gone meanwhile */
        }
        if (k >= 0 && irqs->listed)
                k = drop_lost(r, d);
        if (k >= 0)
                k = vectors_name(d, irqs->n);
        if (k >= 0)
                k = vectors_settle_managed(d, irqs->n, &r->basis);
        return k;
}

/* First who owns which interrupt, then what is known of each. */
static int read_devices(Reader *r, Snapshot *s)
{
        _cleanup_(freep) Irqs *irqs = calloc(s->n_devices + 1, sizeof(*irqs));
        int k = irqs ? 0 : -ENOMEM;

        for (size_t i = 0; k >= 0 && i < s->n_devices; i++)
                k = find_msi(r, &s->devices[i], &irqs[i]);
        if (k >= 0)
                k = add_lines(r, s, irqs);
        for (size_t i = 0; k >= 0 && i < s->n_devices; i++)
                k = read_device(r, &s->devices[i], &irqs[i]);
        for (size_t i = 0; irqs && i < s->n_devices; i++)
                free(irqs[i].items);
        return k;
}

static bool has_msi_irqs(const Root *root, const Snapshot *s)
{
        for (size_t i = 0; i < s->n_devices; i++)
                if (root_exists(root, "%s/msi_irqs", s->devices[i].path))
                        return true;
        return false;
}

int observe_vectors(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s)
{
        Reader r = { .root = root };
        int k;

        k = take_refusals(&r, refusals, n_refusals);
        if (k >= 0)
                k = managed_basis_read(root, s, &r.basis);
        r.by_lines = !has_msi_irqs(root, s);
        if (k >= 0 && r.by_lines)
                k = load_lines(&r);
        if (k >= 0)
                k = read_devices(&r, s);
        free(r.refusals);
        interrupts_clear(&r.interrupts);
        managed_basis_clear(&r.basis);
        return k;
}

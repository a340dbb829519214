/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/role.h"

#include "observe/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Names as the drivers make them. In a pattern "*" stands for any text, "#" for a number of the device (host,
 * controller, port), "%" for the queue's number. A queue row without "%" is numbered by order. What follows
 * an
 * "@" is cut off before. The first row that fits decides. */
static const struct {
        const char *driver; /* NULL = any */
        const char *pattern;
        VectorRole role;
        const char *slow; /* short name of a slow path */
} patterns[] = {
        /* storage */
        { NULL, "nvme#q0", VECTOR_SLOW, "admin" },
        { NULL, "nvme#q%", VECTOR_QUEUE, NULL },
        { NULL, "megasas#-msix%", VECTOR_QUEUE, NULL },
        { NULL, "mpt#sas#-msix%", VECTOR_QUEUE, NULL },
        { NULL, "mpi#mr#-msix%", VECTOR_QUEUE, NULL },
        { NULL, "hpsa#-msix%", VECTOR_QUEUE, NULL },
        { NULL, "lpfc:sp", VECTOR_SLOW, "sp" },
        { NULL, "lpfc:fp", VECTOR_QUEUE, NULL },
        { NULL, "lpfc:%", VECTOR_QUEUE, NULL },
        { NULL, "qla#xxx (rsp_q)", VECTOR_QUEUE, NULL },
        { NULL, "qla#xxx (multiq)", VECTOR_QUEUE, NULL },
        { NULL, "qla#xxx (default)", VECTOR_SLOW, "default" },
        { NULL, "qla#xxx#_default", VECTOR_SLOW, "default" },
        { NULL, "qla#xxx#_atio_q", VECTOR_SLOW, "atio" },
        { NULL, "qla#xxx#_rsp_q", VECTOR_QUEUE, NULL },
        { NULL, "qla#xxx#_qpair%", VECTOR_QUEUE, NULL },
        { NULL, "hisi_sas_v#_hw cq", VECTOR_QUEUE, NULL },
        { NULL, "hisi_sas_v#_hw phy", VECTOR_SLOW, "phy" },
        { NULL, "hisi_sas_v#_hw channel", VECTOR_SLOW, "channel" },
        { NULL, "hisi_sas_v#_hw fatal", VECTOR_SLOW, "fatal" },
        { NULL, "pm#xx#-%", VECTOR_QUEUE, NULL },
        { NULL, "beiscsi_mcc_*", VECTOR_SLOW, "mcc" },
        { NULL, "beiscsi_*", VECTOR_QUEUE, NULL },
        { NULL, "*-err-notify", VECTOR_SLOW, "err-notify" },
        { NULL, "*-fcs-rq", VECTOR_SLOW, "fcs-rq" },
        { NULL, "*-fcs-wq", VECTOR_SLOW, "fcs-wq" },
        { NULL, "*-scsi-wq", VECTOR_QUEUE, NULL },
        { NULL, "csio-*-nondata", VECTOR_SLOW, "nondata" },
        { NULL, "csio-*-fwevt", VECTOR_SLOW, "fwevt" },
        { NULL, "ahci[*]", VECTOR_QUEUE, NULL },
        /* virtio */
        { NULL, "virtio#-config", VECTOR_SLOW, "config" },
        { NULL, "virtio#-control", VECTOR_SLOW, "control" },
        { NULL, "virtio#-event", VECTOR_SLOW, "event" },
        { NULL, "virtio#-virtqueues", VECTOR_QUEUE, NULL },
        { NULL, "virtio#-request", VECTOR_QUEUE, NULL },
        { NULL, "virtio#-req.%", VECTOR_QUEUE, NULL },
        { NULL, "virtio#-input.%", VECTOR_RX, NULL },
        { NULL, "virtio#-output.%", VECTOR_TX, NULL },
        /* network */
        { NULL, "mlx#_comp%", VECTOR_QUEUE, NULL },
        { NULL, "mlx#-comp-%", VECTOR_QUEUE, NULL },
        { NULL, "i40e-*:fdir-TxRx-#", VECTOR_SLOW, "fdir" },
        { NULL, "ice-*:ctrl-TxRx-#", VECTOR_SLOW, "ctrl" },
        { NULL, "ice-*:ll_ts", VECTOR_SLOW, "ll_ts" },
        { NULL, "irdma-*-AEQ", VECTOR_SLOW, "aeq" },
        { NULL, "irdma-*CEQ-%", VECTOR_QUEUE, NULL },
        { NULL, "mana_q%", VECTOR_QUEUE, NULL },
        { NULL, "gve-ntfy-blk%", VECTOR_QUEUE, NULL },
        { NULL, "hinic_ceq#", VECTOR_SLOW, "ceq" },
        { NULL, "hinic_aeq#", VECTOR_SLOW, "aeq" },
        { NULL, "* (queue %)", VECTOR_QUEUE, NULL },
        { NULL, "sp-#-*", VECTOR_SLOW, "sp" },
        { NULL, "vif#-q%-rx", VECTOR_RX, NULL },
        { NULL, "vif#-q%-tx", VECTOR_TX, NULL },
        { "r8125", "*-%", VECTOR_RX, NULL },
};

/* Words of slow-path vectors. Compared with whole runs of letters, so that "fpts" is none. */
static const char *const slow_words[] = {
        "abn",   "admin", "adminq", "aeq",   "async", "aux",   "cmd",  "config",   "control", "ctrl",
        "ecc",   "err",   "error",  "event", "exn",   "fatal", "fdir", "hwc",      "link",    "lpi",
        "lsc",   "mac",   "mbox",   "mbx",   "mcc",   "mgmt",  "misc", "mgmnt",    "mailbox", "notify",
        "other", "pages", "phy",    "ptp",   "sp",    "ts",    "wol",  "fweventq",
};

/* Words before a queue's number, or at the end of a queue without one. */
static const struct {
        const char *word;
        VectorRole role;
} queue_words[] = {
        { "rx", VECTOR_RX },         { "rxq", VECTOR_RX },       { "input", VECTOR_RX },
        { "tx", VECTOR_TX },         { "txq", VECTOR_TX },       { "output", VECTOR_TX },
        { "txrx", VECTOR_QUEUE },    { "rxtx", VECTOR_QUEUE },   { "q", VECTOR_QUEUE },
        { "queue", VECTOR_QUEUE },   { "queues", VECTOR_QUEUE }, { "msix", VECTOR_QUEUE },
        { "cq", VECTOR_QUEUE },      { "ceq", VECTOR_QUEUE },    { "comp", VECTOR_QUEUE },
        { "fp", VECTOR_QUEUE },      { "io", VECTOR_QUEUE },     { "req", VECTOR_QUEUE },
        { "request", VECTOR_QUEUE }, { "ring", VECTOR_QUEUE },   { "qpair", VECTOR_QUEUE },
        { "ahci", VECTOR_QUEUE },
};

#define QUEUE_MAX 65535

/* Reads a number of at most QUEUE_MAX; returns how many digits, 0 = none or too large. */
static size_t read_number(const char *s, int *ret)
{
        size_t n = 0;
        int value = 0;

        for (; isdigit((unsigned char)s[n]); n++) {
                value = value * 10 + (s[n] - '0');
                if (value > QUEUE_MAX)
                        return 0;
        }
        if (n > 0)
                *ret = value;
        return n;
}

/* Patterns are short and come from the table alone; the recursion is as deep as a pattern has wildcards. */
static bool matches(const char *pattern, const char *s, int *queue)
{
        for (; *pattern; pattern++) {
                size_t n;

                if (*pattern == '*') {
                        bool literal = !strchr("*#%", pattern[1]);

                        while (*s++)
                                if ((!literal || *s == pattern[1]) && matches(pattern + 1, s, queue))
                                        return true;
                        return false;
                }
                if (*pattern == '#' || *pattern == '%') {
                        int number;

                        n = read_number(s, &number);
                        if (n == 0)
                                return false;
                        if (*pattern == '%')
                                *queue = number;
                        s += n;
                        continue;
                }
                if (*pattern != *s++)
                        return false;
        }
        return *s == '\0';
}

static bool parse_by_table(const char *driver, const char *name, VectorName *ret)
{
        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
                int queue = -1;

                if (patterns[i].driver && strcmp(patterns[i].driver, driver) != 0)
                        continue;
                if (!matches(patterns[i].pattern, name, &queue))
                        continue;
                *ret = (VectorName) { .role = patterns[i].role, .queue = queue };
                if (patterns[i].slow)
                        snprintf(ret->slow, sizeof(ret->slow), "%s", patterns[i].slow);
                return true;
        }
        return false;
}

/* Takes out length characters at p. */
static void cut(char *p, size_t length)
{
        memmove(p, p + length, strlen(p + length) + 1);
}

static void cut_addresses(char *s)
{
        for (char *p = s; *p; p++) {
                size_t n = pci_address(p, NULL);

                if (n > 0)
                        cut(p, n);
                if (!*p)
                        break;
        }
}

/* Takes out the longest netdev name that stands between separators. */
static void cut_netdev(char *s, const Strv *netdevs)
{
        char *best = NULL;
        size_t length = 0;

        for (size_t i = 0; netdevs && i < netdevs->n; i++) {
                size_t n = strlen(netdevs->items[i]);
                char *p = strstr(s, netdevs->items[i]);

                if (!p || n <= length || (p > s && isalnum((unsigned char)p[-1])) ||
                    isalnum((unsigned char)p[n]))
                        continue;
                best = p;
                length = n;
        }
        if (best)
                cut(best, length);
}

/* Cuts separators at the end. */
static void trim(char *s)
{
        size_t n = strlen(s);

        while (n > 0 && !isalnum((unsigned char)s[n - 1]))
                s[--n] = '\0';
}

/* Whether a run of letters is one of the words of the slow path; sets the name from there on. */
static bool parse_slow(const char *s, VectorName *ret)
{
        for (const char *p = s; *p;) {
                size_t n = 0;

                while (isalpha((unsigned char)p[n]))
                        n++;
                for (size_t i = 0; n > 0 && i < sizeof(slow_words) / sizeof(slow_words[0]); i++) {
                        if (strlen(slow_words[i]) != n || strncasecmp(p, slow_words[i], n) != 0)
                                continue;
                        *ret = (VectorName) { .role = VECTOR_SLOW, .queue = -1 };
                        snprintf(ret->slow, sizeof(ret->slow), "%.39s", p);
                        trim(ret->slow);
                        return true;
                }
                p += n > 0 ? n : 1;
        }
        return false;
}

/* The role that the run of letters ending before `end` stands for; a "tx" right before a "rx" makes both. */
static bool word_role(const char *s, const char *end, VectorRole *ret)
{
        const char *start = end, *before;

        while (start > s && isalpha((unsigned char)start[-1]))
                start--;
        before = start > s && start[-1] == '-' ? start - 1 : NULL;
        for (size_t i = 0; i < sizeof(queue_words) / sizeof(queue_words[0]); i++) {
                size_t n = strlen(queue_words[i].word);

                if ((size_t)(end - start) != n || strncasecmp(start, queue_words[i].word, n) != 0)
                        continue;
                *ret = queue_words[i].role;
                if (before && before - s >= 2 && n == 2 && tolower((unsigned char)before[-1]) == 'x' &&
                    strchr("rtRT", before[-2]) && *ret != VECTOR_QUEUE)
                        *ret = VECTOR_QUEUE;
                return true;
        }
        return false;
}

/* The words that drivers commonly use: "eth0-TxRx-3", "foo-rx-1", "bar_q7", "eth0-5". */
static bool parse_by_words(const char *s, VectorName *ret)
{
        const char *end = s + strlen(s), *digits = end, *word;
        VectorRole role;
        int queue = -1;

        while (digits > s && isdigit((unsigned char)digits[-1]))
                digits--;
        word = digits;
        if (word > s && digits < end && strchr("-_.:", word[-1]))
                word--;
        if (digits < end && (read_number(digits, &queue) == 0 || (word > s && word[-1] == '-')))
                return false; /* no queue: too large a number, or "eth1--1", -1 of a driver's bug */
        if (word_role(s, word, &role)) {
                *ret = (VectorName) { .role = role, .queue = queue };
                return true;
        }
        if (digits < end && word < digits && strchr("-:", *word)) {
                *ret = (VectorName) { .role = VECTOR_QUEUE, .queue = queue };
                return true;
        }
        return false;
}

static void parse_one(const char *driver, const char *action, const Strv *netdevs, VectorName *ret)
{
        char name[256];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(action, "@"), action);
        if (parse_by_table(driver, name, ret))
                return;
        cut_addresses(name);
        cut_netdev(name, netdevs);
        if (parse_slow(name, ret) || parse_by_words(name, ret))
                return;
        *ret = (VectorName) { .role = VECTOR_SLOW, .queue = -1, .bare = true, .slow = "misc" };
}

void vector_name_parse(const char *driver, const char *action, const Strv *netdevs, VectorName *ret)
{
        bool have = false;

        /* Of several actions on one vector, a numbered queue says most. */
        for (const char *p = action; p;) {
                const char *comma = strstr(p, ", ");
                char part[256];
                VectorName one;

                snprintf(part, sizeof(part), "%.*s", comma ? (int)(comma - p) : (int)strlen(p), p);
                parse_one(driver, part, netdevs, &one);
                if (!have || (ret->queue < 0 && one.queue >= 0))
                        *ret = one;
                have = true;
                p = comma ? comma + 2 : NULL;
        }
}

/* A name that tells nothing: a queue when it repeats, or when nothing else on the device is a queue. */
static void settle_bare(const Device *d, VectorName *names)
{
        bool queues = false;

        for (size_t i = 0; i < d->n_vectors; i++)
                queues = queues || names[i].role != VECTOR_SLOW;
        for (size_t i = 0; i < d->n_vectors; i++) {
                bool repeats = false;

                if (!names[i].bare)
                        continue;
                for (size_t j = 0; j < d->n_vectors && !repeats; j++)
                        repeats = j != i && names[j].bare &&
                                  strcmp(d->vectors[i].action, d->vectors[j].action) == 0;
                if (!repeats && queues)
                        continue;
                names[i].role = VECTOR_QUEUE;
        }
}

typedef struct Named {
        const Vector *vector;
        size_t place;
        char key[64];
} Named;

static int compare_key(const void *a, const void *b)
{
        const Named *x = a, *y = b;
        int r = strcmp(x->key, y->key);

        return r ? r : x->place < y->place ? -1 : x->place > y->place;
}

static int compare_action(const void *a, const void *b)
{
        const Named *x = a, *y = b;
        int r = strcmp(x->vector->action, y->vector->action);

        return r ? r : x->place < y->place ? -1 : x->place > y->place;
}

/* Numbers queues without a number among those of the same action; bare names of different text that turned
 * out to be queues are numbered together. */
static void number_queues(const Device *d, VectorName *names, Named *order)
{
        int bare = 0, next = 0;

        for (size_t i = 0; i < d->n_vectors; i++)
                order[i] = (Named) { .vector = &d->vectors[i], .place = i };
        qsort(order, d->n_vectors, sizeof(*order), compare_action);
        for (size_t i = 0; i < d->n_vectors; i++) {
                VectorName *name = &names[order[i].place];

                if (i == 0 || strcmp(order[i].vector->action, order[i - 1].vector->action) != 0)
                        next = 0;
                if (name->role != VECTOR_SLOW && name->queue < 0 && !name->bare)
                        name->queue = next++;
        }
        for (size_t i = 0; i < d->n_vectors; i++)
                if (names[i].role != VECTOR_SLOW && names[i].bare)
                        names[i].queue = bare++;
}

static void make_key(const VectorName *name, char *ret, size_t size)
{
        switch (name->role) {
        case VECTOR_QUEUE:
                snprintf(ret, size, "q%d", name->queue);
                return;
        case VECTOR_RX:
                snprintf(ret, size, "rx%d", name->queue);
                return;
        case VECTOR_TX:
                snprintf(ret, size, "tx%d", name->queue);
                return;
        case VECTOR_SLOW:
                snprintf(ret, size, "slow-%s", name->slow);
                for (char *p = ret; *p; p++)
                        if (!isalnum((unsigned char)*p) && !strchr("-_.:", *p))
                                *p = '-';
                return;
        case _VECTOR_ROLE_MAX:
                break;
        }
        snprintf(ret, size, "vector");
}

/* Sets the keys; equal ones become "q0", "q0#2", "q0#3" in order of IRQ. */
static int set_keys(Device *d, const VectorName *names, Named *order)
{
        unsigned same = 1;

        for (size_t i = 0; i < d->n_vectors; i++) {
                order[i] = (Named) { .vector = &d->vectors[i], .place = i };
                make_key(&names[i], order[i].key, sizeof(order[i].key));
        }
        qsort(order, d->n_vectors, sizeof(*order), compare_key);
        for (size_t i = 0; i < d->n_vectors; i++) {
                Vector *v = &d->vectors[order[i].place];

                same = i > 0 && strcmp(order[i].key, order[i - 1].key) == 0 ? same + 1 : 1;
                v->key = same == 1 ? strdup(order[i].key) : strf("%s#%u", order[i].key, same);
                if (!v->key)
                        return -ENOMEM;
        }
        return 0;
}

int vectors_name(Device *d, size_t n_all)
{
        _cleanup_(freep) VectorName *names = calloc(d->n_vectors + 1, sizeof(*names));
        _cleanup_(freep) Named *order = calloc(d->n_vectors + 1, sizeof(*order));

        if (!names || !order)
                return -ENOMEM;
        for (size_t i = 0; i < d->n_vectors; i++)
                vector_name_parse(d->driver, d->vectors[i].action, &d->netdevs, &names[i]);
        settle_bare(d, names);
        number_queues(d, names, order);
        if (n_all == 1 && d->n_vectors == 1)
                names[0] = (VectorName) { .role = VECTOR_QUEUE, .queue = 0 };
        for (size_t i = 0; i < d->n_vectors; i++) {
                d->vectors[i].role = names[i].role;
                d->vectors[i].queue = names[i].role == VECTOR_SLOW ? -1 : names[i].queue;
        }
        return set_keys(d, names, order);
}

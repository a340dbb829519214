/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/internal.h"

#include "writer/ban-files.h"
#include "writer/irqbalance.h"
#include "writer/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#define ISCSI_GROUP_ISCSID 1 /* include/scsi/iscsi_if.h: ISCSI_NL_GRP_ISCSID */

#define TIDY_STEP  1024u
#define PROBE_MSEC 2000u

int writer_new(const Root *root, Ledger *ledger, const WriterSink *sink, Writer **ret)
{
        _cleanup_(writer_freep) Writer *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        w->root = root;
        w->ledger = ledger;
        w->sink = sink;
        w->tidy_at = TIDY_STEP;
        w->message = malloc(sizeof(WriterRequest) + 1);
        if (!w->message)
                return -ENOMEM;
        *ret = STEAL_PTR(w);
        return 0;
}

Writer *writer_free(Writer *w)
{
        if (!w)
                return NULL;
        writer_drop(w);
        free(w->message);
        free(w);
        return NULL;
}

void writer_set_log(Writer *w, WriterLog log, void *userdata)
{
        w->log = log;
        w->log_userdata = userdata;
}

void writer_log_event(const Writer *w, const WriterEvent *event)
{
        if (w->log)
                w->log(w->log_userdata, event);
}

int writer_read_value(const Writer *w, const Operation *op, const char *path, char **ret)
{
        char *text;
        int r;

        r = root_read_plain(w->root, &text, path);
        if (r < 0)
                return r;
        if (strlen(text) >= WRITER_VALUE_MAX) {
                free(text);
                return -E2BIG;
        }
        file_kind_trim(operation_kind(op), text);
        *ret = text;
        return 0;
}

void writer_put_entry(WriterReply *reply, const LedgerEntry *e)
{
        if (!e)
                return;
        PUT(reply->device, e->device);
        PUT(reply->id, e->id);
        PUT(reply->identity, e->identity);
        PUT(reply->first, e->first);
        PUT(reply->set, e->set);
        if (e->path)
                PUT(reply->path, e->path);
        if (e->refused && reply->error == e->refused)
                reply->flags |= WRITER_REFUSED;
        if (e->held)
                reply->flags |= WRITER_HELD;
}

/* The operation of an entry, which is as little to be trusted as a request. NULL = there is none. */
static const Operation *operation_of(const LedgerEntry *e)
{
        const Operation *op = e->path ? operation_find(e->kind) : NULL;

        return op && operation_accepts_path(op, e->path) ? op : NULL;
}

/* Whether the object of an entry is gone, or its name now belongs to another one. */
static bool is_gone(const Writer *w, const LedgerEntry *e)
{
        const Operation *op = operation_of(e);
        _cleanup_(freep) char *identity = NULL;
        struct stat st;
        int r;

        if (!op)
                return false;
        r = object_identity(w->root, e->path, &identity);
        if (r >= 0 && strcmp(identity, e->identity) != 0)
                return true;
        if (r >= 0)
                r = root_stat(w->root, &st, "%s", e->path);
        return r == -ENOENT;
}

/* Sessions and devices come and go: what was done to those that went is of no use. */
static void forget_gone(Writer *w)
{
        size_t i = 0;

        while (i < ledger_count(w->ledger)) {
                const LedgerEntry *e = ledger_entry(w->ledger, i);

                if (!is_gone(w, e) || ledger_forget(w->ledger, e->path) < 0)
                        i++;
        }
        w->tidy_at = 2 * ledger_count(w->ledger) + TIDY_STEP;
}

void writer_tidy(Writer *w)
{
        if (ledger_count(w->ledger) >= w->tidy_at)
                forget_gone(w);
}

void writer_read_back(Writer *w, const Operation *op, const char *path)
{
        _cleanup_(freep) char *value = NULL;

        PUT(w->reply.value, writer_read_value(w, op, path, &value) >= 0 ? value : "");
}

static bool is_plain_text(const char *s)
{
        for (; *s; s++)
                if ((unsigned char)*s < ' ' || *s == 0x7f)
                        return false;
        return true;
}

int writer_check_names(const WriterRequest *q)
{
        return *q->device && is_plain_text(q->device) && is_plain_text(q->id) ? 0 : -EINVAL;
}

void writer_log_denied(const Writer *w, const WriterRequest *q, int error)
{
        writer_log_event(w, &(WriterEvent) {
                                    .op = WRITER_SET,
                                    .denied = true,
                                    .device = q->device,
                                    .path = q->path,
                                    .new_value = q->value,
                                    .error = error,
                            });
}

/* Writes the first value where the file says something else. */
static int write_first(Writer *w, const Operation *op, const LedgerEntry *e, const char *now)
{
        int r;

        r = strcmp(now, e->first) == 0 ? 1 : operation_equal(op, now, e->first);
        if (r != 0)
                return r < 0 ? r : 0;
        /* The file may have said anything. */
        r = operation_check_value(op, e->first);
        if (r < 0)
                return r;
        r = w->sink->write(w->sink->userdata, w->root, op->kind, e->path, e->first);
        if (r >= 0)
                w->reply.flags |= WRITER_WRITTEN;
        writer_read_back(w, op, e->path);
        writer_log_event(w, &(WriterEvent) {
                                    .op = WRITER_RESTORE,
                                    .knob = operation_kind(op)->knob,
                                    .device = e->device,
                                    .path = e->path,
                                    .old_value = now,
                                    .new_value = e->first,
                                    .error = r,
                            });
        return r;
}

static int restore_entry(Writer *w, const Operation *op, const LedgerEntry *e)
{
        _cleanup_(freep) char *identity = NULL, *now = NULL;
        int r, forgotten;

        r = object_identity(w->root, e->path, &identity);
        if (r >= 0 && strcmp(identity, e->identity) != 0)
                r = -ENOENT;
        if (r >= 0)
                r = writer_read_value(w, op, e->path, &now);
        if (r >= 0) {
                PUT(w->reply.value, now);
                r = write_first(w, op, e, now);
        }
        if (r < 0 && !(r == -ENOENT && is_gone(w, e)))
                return r;
        forgotten = ledger_forget(w->ledger, e->path);
        if (forgotten < 0)
                w->reply.flags |= WRITER_NO_LEDGER;
        return r < 0 ? -ENODEV : forgotten;
}

static int handle_restore(Writer *w, const WriterRequest *q)
{
        const LedgerEntry *e = ledger_find(w->ledger, q->path);
        const Operation *op = e ? operation_of(e) : NULL;

        if (!e || !e->first)
                return 0;
        if (!op)
                return -EOPNOTSUPP;
        writer_put_entry(&w->reply, e);
        return restore_entry(w, op, e);
}

static int handle_hold(Writer *w, const WriterRequest *q)
{
        int r;

        r = writer_check_names(q);
        if (r < 0)
                return r;
        return q->op == WRITER_HOLD ? ledger_hold(w->ledger, q->device)
                                    : ledger_release(w->ledger, q->device);
}

static int open_iscsi(const Writer *w, int *ret_fd)
{
        struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1u << (ISCSI_GROUP_ISCSID - 1) };
        _cleanup_(closep) int fd = -1;
        Strv hosts = { 0 };
        int r;

        /* Netlink shows the machine that runs, and a copy is another one. */
        if (!root_is_live(w->root))
                return -EOPNOTSUPP;
        /* The socket would load a module that nobody needs. */
        r = root_list(w->root, &hosts, "sys/class/iscsi_host");
        if (r >= 0 && hosts.n == 0)
                r = -ENOENT;
        strv_clear(&hosts);
        if (r < 0)
                return r;
        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ISCSI);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        *ret_fd = STEAL_FD(fd);
        return 0;
}

/* Empties the reply, but for what says which request it answers. */
static void begin_reply(Writer *w, const WriterRequest *q, uint32_t kind)
{
        memset(&w->reply, 0, sizeof(w->reply));
        w->reply.version = WRITER_PROTOCOL_VERSION;
        w->reply.op = q->op;
        w->reply.kind = kind;
        w->reply.seq = q->seq;
}

static int handle_list(Writer *w, const WriterRequest *q, WriterSend send, void *userdata)
{
        int r;

        forget_gone(w);
        for (size_t i = 0; i < ledger_count(w->ledger); i++) {
                const LedgerEntry *e = ledger_entry(w->ledger, i);
                const Operation *op = operation_of(e);

                begin_reply(w, q, e->kind);
                w->reply.error = e->refused;
                writer_put_entry(&w->reply, e);
                if (op)
                        writer_read_back(w, op, e->path);
                r = send(userdata, &w->reply, -1);
                if (r < 0)
                        return r;
        }
        begin_reply(w, q, 0);
        return 0;
}

/* Too long a list of what others banned is only left out. */
static int put_bans(WriterReply *reply, const BanAnswer *a)
{
        _cleanup_(freep) char *alone = irq_list_format(&a->left_alone), *users = irq_list_format(&a->users);

        if (!alone || !users)
                return -ENOMEM;
        if (strlen(alone) >= sizeof(reply->value))
                return -E2BIG;
        PUT(reply->value, alone);
        if (strlen(users) < sizeof(reply->first))
                PUT(reply->first, users);
        if (a->script)
                reply->flags |= WRITER_SCRIPT;
        return 0;
}

/* IRQ 0 would end irqbalance's list. */
static int check_ban(const WriterRequest *q, IrqList *ret)
{
        int r;

        if (*q->path && !irqbalance_accepts_socket(q->path))
                return -EOPNOTSUPP;
        r = irq_list_parse(q->value, ret);
        return r >= 0 && irq_list_contains(ret, 0) ? -EINVAL : r;
}

static int handle_ban(Writer *w, const WriterRequest *q)
{
        _cleanup_(irq_list_clear) IrqList ours = { 0 };
        _cleanup_(ban_answer_clear) BanAnswer answer = { 0 };
        int folder = ledger_folder(w->ledger), r;
        bool changed;

        r = check_ban(q, &ours);
        if (r < 0 && r != -ENOMEM)
                writer_log_denied(w, q, r);
        if (r < 0)
                return r;
        r = ban_put_list(folder, &ours, &changed);
        if (r >= 0 && *q->path)
                r = irqbalance_hand_over(w->root, folder, q->path, &ours, changed, &answer);
        return r < 0 ? r : put_bans(&w->reply, &answer);
}

static int handle_probe(Writer *w)
{
        ProbeCounts n;
        int r;

        if (!root_is_live(w->root))
                return -EOPNOTSUPP;
        r = probe_count(w->root, PROBE_MSEC, &n);
        if (r >= 0)
                snprintf(w->reply.value, sizeof(w->reply.value), "%u %" PRIu64 " %" PRIu64 " %" PRIi64,
                         PROBE_MSEC, n.allocations, n.misses, n.dropped);
        return r;
}

static int handle_runs_begin(Writer *w, const WriterRequest *q)
{
        if (!runs_is_queue(q->value)) {
                writer_log_denied(w, q, -EINVAL);
                return -EINVAL;
        }
        return root_is_live(w->root) ? runs_begin(&w->runs, w->root, q->value) : -EOPNOTSUPP;
}

int writer_msec_left(const Writer *w)
{
        return runs_msec_left(&w->runs);
}

void writer_drop(Writer *w)
{
        runs_drop(&w->runs, w->root);
}

static bool is_terminated(const char *s, size_t size)
{
        return memchr(s, '\0', size);
}

static bool is_message(const WriterRequest *q, size_t size)
{
        return size == sizeof(*q) && q->version == WRITER_PROTOCOL_VERSION &&
               is_terminated(q->device, sizeof(q->device)) && is_terminated(q->id, sizeof(q->id)) &&
               is_terminated(q->path, sizeof(q->path)) && is_terminated(q->value, sizeof(q->value));
}

int writer_handle(Writer *w, const WriterRequest *q, size_t size, WriterSend send, void *userdata)
{
        _cleanup_(closep) int fd = -1;
        int r;

        if (!is_message(q, size))
                return -EPROTO;
        begin_reply(w, q, q->kind);
        PUT(w->reply.device, q->device);
        PUT(w->reply.id, q->id);
        PUT(w->reply.path, q->path);
        switch (q->op) {
        case WRITER_SET:
                r = writer_set(w, q);
                break;
        case WRITER_RESTORE:
                r = handle_restore(w, q);
                break;
        case WRITER_HOLD:
        case WRITER_RELEASE:
                r = handle_hold(w, q);
                break;
        case WRITER_LIST:
                r = handle_list(w, q, send, userdata);
                if (r < 0)
                        return r;
                break;
        case WRITER_ISCSI:
                r = open_iscsi(w, &fd);
                break;
        case WRITER_BAN:
                r = handle_ban(w, q);
                break;
        case WRITER_PROBE:
                r = handle_probe(w);
                break;
        case WRITER_RUNS_BEGIN:
                r = handle_runs_begin(w, q);
                break;
        case WRITER_RUNS_END:
                r = runs_end(&w->runs, w->root, w->reply.value, sizeof(w->reply.value));
                break;
        default:
                r = -EOPNOTSUPP;
        }
        w->reply.error = r;
        w->reply.flags |= WRITER_LAST;
        return send(userdata, &w->reply, fd);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/writer.h"

#include "writer/ban-files.h"
#include "writer/irqbalance.h"
#include "writer/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#define ISCSI_GROUP_ISCSID 1 /* include/scsi/iscsi_if.h: ISCSI_NL_GRP_ISCSID */

struct Writer {
        const Root *root;
        Ledger *ledger;
        const WriterSink *sink;
        WriterLog log;
        void *log_userdata;
        WriterReply reply; /* the one being made: too large for the stack */
        char *message;     /* room for one message and a byte more, so that a longer one shows */
        size_t tidy_at;    /* so many entries, and the ledger is searched for what is gone */
};

#define TIDY_STEP 1024u

/* Only files of procfs and sysfs may be written on the live machine, whatever is mounted where. */
static int check_file_system(int fd)
{
        struct statfs st;

        if (fstatfs(fd, &st) < 0)
                return -errno;
        return st.f_type == PROC_SUPER_MAGIC || st.f_type == SYSFS_MAGIC ? 0 : -EXDEV;
}

static int write_kernel(void *userdata, const Root *root, WriterKind kind, const char *path,
                        const char *value)
{
        _cleanup_(closep) int fd = -1;
        size_t size = strlen(value);
        ssize_t n;
        int r;

        fd = root_open_file(root, O_WRONLY | O_NOFOLLOW, "%s", path);
        if (fd < 0)
                return fd;
        r = root_is_live(root) ? check_file_system(fd) : 0;
        if (r < 0)
                return r;
        do
                n = write(fd, value, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return (size_t)n == size ? 0 : -EIO;
}

const WriterSink writer_sink_kernel = { .write = write_kernel };

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
        free(w->message);
        free(w);
        return NULL;
}

void writer_set_log(Writer *w, WriterLog log, void *userdata)
{
        w->log = log;
        w->log_userdata = userdata;
}

static void log_event(const Writer *w, const WriterEvent *event)
{
        if (w->log)
                w->log(w->log_userdata, event);
}

/* Reads the value of a file that no link leads to. */
static int read_value(const Writer *w, const char *path, char **ret)
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
        *ret = text;
        return 0;
}

/* The arrays have room for every string that passed the checks or came out of the ledger. */
static void put_string(char *to, size_t size, const char *from)
{
        snprintf(to, size, "%s", from ? from : "");
}

#define PUT(array, from) put_string(array, sizeof(array), from)

static void put_entry(WriterReply *reply, const LedgerEntry *e)
{
        if (!e)
                return;
        PUT(reply->device, e->device);
        PUT(reply->id, e->id);
        PUT(reply->first, e->first);
        PUT(reply->set, e->set);
        if (e->path)
                PUT(reply->path, e->path);
        if (e->refused && reply->error == e->refused)
                reply->flags |= WRITER_REFUSED;
        if (e->held)
                reply->flags |= WRITER_HELD;
}

/* What a SET works with. */
typedef struct SetJob {
        const Operation *op;
        const WriterRequest *request;
        char *identity;
        char *old_value;
        char *previous; /* what the ledger said was set; NULL = nothing */
        bool fresh;     /* the ledger had no first value of this object */
} SetJob;

static void set_job_done(SetJob *j)
{
        free(j->identity);
        free(j->old_value);
        free(j->previous);
}

/* The ledger's entry of the object that is at the path now. */
static const LedgerEntry *find_same(const Writer *w, const SetJob *j)
{
        const LedgerEntry *e = ledger_find(w->ledger, j->request->path);

        return e && e->kind == j->op->kind && strcmp(e->identity, j->identity) == 0 ? e : NULL;
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
        r = op->identity(w->root, e->path, &identity);
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

static LedgerEntry entry_of_job(const SetJob *j)
{
        return (LedgerEntry) {
                .path = (char *)j->request->path,
                .device = (char *)j->request->device,
                .id = (char *)j->request->id,
                .identity = j->identity,
                .kind = j->op->kind,
                .first = j->old_value,
        };
}

/* The value is there already: nothing to write, but what is in the ledger has to be true. */
static int note_unchanged(Writer *w, const SetJob *j)
{
        const char *path = j->request->path;
        int r;

        if (!ledger_find(w->ledger, path))
                return 0;
        r = j->fresh ? ledger_forget(w->ledger, path) : ledger_put_set(w->ledger, path, j->request->value);
        if (r < 0)
                w->reply.flags |= WRITER_NO_LEDGER;
        return r;
}

/* Both records are in the file before the knob is written, so that a kill at any instant leaves a ledger that
 * can put the first value back. */
static int note_before_write(Writer *w, const SetJob *j)
{
        LedgerEntry entry = entry_of_job(j);
        int r;

        if (j->fresh) {
                if (ledger_count(w->ledger) >= w->tidy_at)
                        forget_gone(w);
                r = ledger_put_first(w->ledger, &entry);
                if (r < 0)
                        return r;
        }
        r = ledger_put_set(w->ledger, j->request->path, j->request->value);
        if (r < 0 && j->fresh)
                (void)ledger_forget(w->ledger, j->request->path);
        return r;
}

/* The write failed. When the file still says what it said, the ledger goes back too. Errors of the ledger
 * change nothing here: what it has too much of does no harm. */
static void note_failure(Writer *w, const SetJob *j, int error)
{
        LedgerEntry entry = entry_of_job(j);

        if (j->fresh)
                (void)ledger_forget(w->ledger, j->request->path);
        else if (j->previous)
                (void)ledger_put_set(w->ledger, j->request->path, j->previous);
        entry.refused = error;
        if (error_is_refusal(error))
                (void)ledger_put_refused(w->ledger, &entry);
}

static void read_back(Writer *w, const char *path)
{
        _cleanup_(freep) char *value = NULL;

        PUT(w->reply.value, read_value(w, path, &value) >= 0 ? value : "");
}

static int write_set(Writer *w, const SetJob *j)
{
        const WriterRequest *q = j->request;
        int r;

        r = note_before_write(w, j);
        if (r < 0) {
                w->reply.flags |= WRITER_NO_LEDGER;
                return r;
        }
        r = w->sink->write(w->sink->userdata, w->root, j->op->kind, q->path, q->value);
        read_back(w, q->path);
        if (r >= 0)
                w->reply.flags |= WRITER_WRITTEN;
        else if (operation_equal(j->op, w->reply.value, j->old_value) > 0)
                note_failure(w, j, r);
        log_event(w, &(WriterEvent) {
                             .op = WRITER_SET,
                             .knob = j->op->knob,
                             .device = q->device,
                             .path = q->path,
                             .old_value = j->old_value,
                             .new_value = q->value,
                             .error = r,
                     });
        return r;
}

static int prepare_set(Writer *w, SetJob *j)
{
        const WriterRequest *q = j->request;
        const LedgerEntry *e;
        int r;

        r = j->op->owner ? j->op->owner(w->root, q->path, q->device) : 0;
        if (r >= 0)
                r = j->op->identity(w->root, q->path, &j->identity);
        if (r < 0)
                return r;
        e = find_same(w, j);
        j->fresh = !e || !e->first;
        if (e && e->set) {
                j->previous = strdup(e->set);
                if (!j->previous)
                        return -ENOMEM;
        }
        r = read_value(w, q->path, &j->old_value);
        if (r < 0)
                return r;
        PUT(w->reply.value, j->old_value);
        return e ? e->refused : 0;
}

static bool is_plain_text(const char *s)
{
        for (; *s; s++)
                if ((unsigned char)*s < ' ' || *s == 0x7f)
                        return false;
        return true;
}

static int check_names(const WriterRequest *q)
{
        return *q->device && is_plain_text(q->device) && is_plain_text(q->id) ? 0 : -EINVAL;
}

static int check_set(const Writer *w, const WriterRequest *q, const Operation **ret)
{
        const Operation *op = operation_find(q->kind);
        int r;

        if (!op || !operation_accepts_path(op, q->path))
                return -EOPNOTSUPP;
        r = check_names(q);
        if (r >= 0)
                r = operation_check_value(op, q->value);
        if (r < 0)
                return r;
        if (ledger_is_held(w->ledger, q->device))
                return -EBUSY;
        *ret = op;
        return 0;
}

static void log_denied(const Writer *w, const WriterRequest *q, int error)
{
        log_event(w, &(WriterEvent) {
                             .op = WRITER_SET,
                             .denied = true,
                             .device = q->device,
                             .path = q->path,
                             .new_value = q->value,
                             .error = error,
                     });
}

static int handle_set(Writer *w, const WriterRequest *q)
{
        _cleanup_(set_job_done) SetJob j = { .request = q };
        int r;

        r = check_set(w, q, &j.op);
        if (r == -EOPNOTSUPP || r == -EINVAL)
                log_denied(w, q, r);
        if (r >= 0)
                r = prepare_set(w, &j);
        if (r >= 0)
                r = operation_equal(j.op, j.old_value, q->value);
        if (r >= 0)
                r = r ? note_unchanged(w, &j) : write_set(w, &j);
        w->reply.error = r;
        if (j.identity)
                put_entry(&w->reply, find_same(w, &j));
        PUT(w->reply.device, q->device);
        PUT(w->reply.id, q->id);
        return r;
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
        read_back(w, e->path);
        log_event(w, &(WriterEvent) {
                             .op = WRITER_RESTORE,
                             .knob = op->knob,
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

        r = op->identity(w->root, e->path, &identity);
        if (r >= 0 && strcmp(identity, e->identity) != 0)
                r = -ENOENT;
        if (r >= 0)
                r = read_value(w, e->path, &now);
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
        put_entry(&w->reply, e);
        return restore_entry(w, op, e);
}

static int handle_hold(Writer *w, const WriterRequest *q)
{
        int r;

        r = check_names(q);
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
        bool any;

        /* Netlink shows the machine that runs, and a copy is another one. */
        if (!root_is_live(w->root))
                return -EOPNOTSUPP;
        /* The socket would load a module that nobody needs. */
        any = root_list(w->root, &hosts, "sys/class/iscsi_host") >= 0 && hosts.n > 0;
        strv_clear(&hosts);
        if (!any)
                return -ENOENT;
        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ISCSI);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        *ret_fd = STEAL_FD(fd);
        return 0;
}

static int handle_list(Writer *w, WriterSend send, void *userdata)
{
        const WriterReply empty = { .version = w->reply.version, .op = w->reply.op, .seq = w->reply.seq };
        int r;

        forget_gone(w);
        for (size_t i = 0; i < ledger_count(w->ledger); i++) {
                const LedgerEntry *e = ledger_entry(w->ledger, i);

                w->reply = empty;
                w->reply.kind = e->kind;
                w->reply.error = e->refused;
                put_entry(&w->reply, e);
                if (operation_of(e))
                        read_back(w, e->path);
                r = send(userdata, &w->reply, -1);
                if (r < 0)
                        return r;
        }
        w->reply = empty;
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
        if (r < 0) {
                log_denied(w, q, r);
                return r;
        }
        r = ban_put_list(folder, &ours, &changed);
        if (r >= 0 && *q->path)
                r = irqbalance_hand_over(w->root, folder, q->path, &ours, changed, &answer);
        return r < 0 ? r : put_bans(&w->reply, &answer);
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
        memset(&w->reply, 0, sizeof(w->reply));
        w->reply.version = WRITER_PROTOCOL_VERSION;
        w->reply.op = q->op;
        w->reply.kind = q->kind;
        w->reply.seq = q->seq;
        PUT(w->reply.device, q->device);
        PUT(w->reply.id, q->id);
        PUT(w->reply.path, q->path);
        switch (q->op) {
        case WRITER_SET:
                r = handle_set(w, q);
                break;
        case WRITER_RESTORE:
                r = handle_restore(w, q);
                break;
        case WRITER_HOLD:
        case WRITER_RELEASE:
                r = handle_hold(w, q);
                break;
        case WRITER_LIST:
                r = handle_list(w, send, userdata);
                if (r < 0)
                        return r;
                break;
        case WRITER_ISCSI:
                r = open_iscsi(w, &fd);
                break;
        case WRITER_BAN:
                r = handle_ban(w, q);
                break;
        default:
                r = -EOPNOTSUPP;
        }
        w->reply.error = r;
        w->reply.flags |= WRITER_LAST;
        return send(userdata, &w->reply, fd);
}

static int send_reply(void *userdata, const WriterReply *reply, int fd)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec iov = { (void *)reply, sizeof(*reply) };
        struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
        const int *peer = userdata;
        ssize_t n;

        if (fd >= 0) {
                control.head.cmsg_level = SOL_SOCKET;
                control.head.cmsg_type = SCM_RIGHTS;
                control.head.cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
                message.msg_control = &control;
                message.msg_controllen = sizeof(control);
        }
        do
                n = sendmsg(*peer, &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

int writer_serve_one(Writer *w, int fd)
{
        ssize_t n;
        int r;

        do
                n = recv(fd, w->message, sizeof(WriterRequest) + 1, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;
        if (n == 0)
                return 0;
        r = writer_handle(w, (const WriterRequest *)w->message, (size_t)n, send_reply, &fd);
        if (r == -EPIPE || r == -ECONNRESET)
                return 0;
        return r < 0 ? r : 1;
}

int writer_serve(Writer *w, int fd)
{
        int r;

        do
                r = writer_serve_one(w, fd);
        while (r > 0);
        return r;
}

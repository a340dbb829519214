/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "desk.h"

#include "apply/identity.h"
#include "basic/strv.h"
#include "land.h"
#include "table.h"
#include "writer/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define ERRNO_MAX 4095 /* include/linux/err.h: MAX_ERRNO */

struct Desk {
        Land land;
        Root *root;
        char folder[160], file[176]; /* of the ledger */
        char copy_folder[160], copy[176];
        Ledger *ledger;
        Writer *writer;
        WriterSink sink;
        int pair[2];
        DeskAnswer answer;
        int error;
        /* The request that is at work, what came of it, and what was to be expected. */
        const WriterRequest *request;
        bool held, tried, written, ended;
        unsigned n_replies;
        int last_error;
        unsigned last_flags;
        WriterRequest own; /* desk_ask()'s: too large for the stack */
};

static Desk *the_desk;

/* Signals cut it short, as the fuzzer's clock does. */
static void copy_bytes(int from, int to)
{
        ssize_t n;

        do
                n = copy_file_range(from, NULL, to, NULL, 1 << 20, 0);
        while (n > 0 || (n < 0 && errno == EINTR));
        FUZZ_REQUIRE(n == 0);
}

/* What a kill at this instant would leave: the ledger's file, read by another writer. */
static bool file_has_first(const Desk *d, const char *path, const char *first)
{
        _cleanup_(ledger_freep) Ledger *copy = NULL;
        _cleanup_(closep) int from = open(d->file, O_RDONLY | O_CLOEXEC), to = -1;
        const LedgerEntry *e;

        to = open(d->copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        FUZZ_REQUIRE(from >= 0 && to >= 0);
        copy_bytes(from, to);
        FUZZ_REQUIRE(ledger_open(d->copy_folder, "", &copy, NULL) == 0);
        e = ledger_find(copy, path);
        return e && e->first && strcmp(e->first, first) == 0;
}

/* Every path that the code under test opens comes through here. */
static void check_opened(Desk *d, int fd, const char *path, unsigned long long flags)
{
        char self[64], real[512];
        const char *name;
        ssize_t n;

        if (flags & (O_PATH | O_DIRECTORY))
                return;
        snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
        n = readlink(self, real, sizeof(real) - 1);
        FUZZ_REQUIRE(n > 0);
        real[n] = '\0';
        FUZZ_REQUIRE(strncmp(real, d->land.root, strlen(d->land.root)) == 0);
        FUZZ_REQUIRE(strcmp(real + strlen(d->land.root) + 1, path) == 0);
        name = strrchr(path, '/');
        if ((flags & O_ACCMODE) == O_RDONLY && strncmp(path, "sys/kernel/irq/", 15) == 0 &&
            (strcmp(name, "/hwirq") == 0 || strcmp(name, "/chip_name") == 0))
                return;
        FUZZ_REQUIRE(land_find(&d->land, path) || (flags & O_ACCMODE) == O_RDONLY);
        FUZZ_REQUIRE(table_kind(path) != 0);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* --wrap=syscall: the Root opens with openat2(2), which has no function in the C library. */
long __wrap_syscall(long number, ...)
{
        const struct open_how *how;
        const char *path;
        va_list ap;
        size_t size;
        int folder;
        long fd;

        FUZZ_REQUIRE(number == SYS_openat2);
        va_start(ap, number);
        folder = va_arg(ap, int);
        path = va_arg(ap, const char *);
        how = va_arg(ap, const struct open_how *);
        size = va_arg(ap, size_t);
        va_end(ap);
        fd = __real_syscall(number, folder, path, how, size);
        if (fd >= 0 && the_desk)
                check_opened(the_desk, (int)fd, path, how->flags);
        return fd;
}

static void check_before_write(Desk *d, Object *o, const char *now)
{
        const LedgerEntry *e = ledger_find(d->ledger, d->request->path);

        if (!o->first)
                o->first = strdup(now);
        FUZZ_REQUIRE(o->first && e && e->first && strcmp(e->first, o->first) == 0);
        FUZZ_REQUIRE(file_has_first(d, d->request->path, e->first));
}

static int on_write(void *userdata, const Root *root, WriterKind kind, const char *path, const char *value)
{
        Desk *d = userdata;
        Object *o = land_find(&d->land, path);
        _cleanup_(freep) char *now = o ? land_read(&d->land, o) : NULL;
        int r;

        FUZZ_REQUIRE(root == d->root && strcmp(path, d->request->path) == 0);
        FUZZ_REQUIRE(o && now && o->kind == kind && table_kind(path) == kind && table_takes(kind, value));
        FUZZ_REQUIRE(d->request->op == WRITER_SET || d->request->op == WRITER_RESTORE);
        FUZZ_REQUIRE(d->request->op != WRITER_SET || (!d->held && land_owns(d->request->device, path)));
        check_before_write(d, o, now);
        d->tried = true;
        if (d->answer == DESK_REFUSES)
                return d->error;
        o->touched = true;
        r = writer_sink_kernel.write(NULL, root, kind, path, value);
        FUZZ_REQUIRE(r == 0);
        /* A knob shows the value alone, where a file keeps what stood behind it. */
        if (d->answer == DESK_TAKES_ANOTHER)
                land_put(&d->land, o, kind == WRITER_IRQ_AFFINITY ? "1\n" : "2\n");
        else
                land_put(&d->land, o, value);
        if (d->answer == DESK_TAKES_FAILS)
                return d->error;
        d->written = true;
        /* Whatever it reads now, no more can be done for it. */
        if (d->request->op == WRITER_RESTORE)
                o->touched = false;
        return 0;
}

static void on_event(void *userdata, const WriterEvent *e)
{
        Desk *d = userdata;

        if (e->denied) {
                FUZZ_REQUIRE(e->error < 0 && !d->tried);
                return;
        }
        FUZZ_REQUIRE(d->tried && (e->error == 0) == d->written);
        FUZZ_REQUIRE(e->knob && *e->knob && e->device && e->path && e->old_value && e->new_value);
        /* A restore tells what the ledger says. */
        FUZZ_REQUIRE(e->op == WRITER_RESTORE || table_is_text(e->device));
}

static void check_strings(const WriterReply *p)
{
        FUZZ_REQUIRE(memchr(p->device, '\0', sizeof(p->device)) && memchr(p->id, '\0', sizeof(p->id)) &&
                     memchr(p->path, '\0', sizeof(p->path)) &&
                     memchr(p->identity, '\0', sizeof(p->identity)) &&
                     memchr(p->first, '\0', sizeof(p->first)) && memchr(p->set, '\0', sizeof(p->set)) &&
                     memchr(p->value, '\0', sizeof(p->value)));
}

static int on_reply(void *userdata, const WriterReply *p, int fd)
{
        const unsigned known = WRITER_LAST | WRITER_WRITTEN | WRITER_HELD | WRITER_REFUSED |
                               WRITER_NO_LEDGER | WRITER_SCRIPT;
        Desk *d = userdata;
        const WriterRequest *q = d->request;

        FUZZ_REQUIRE(fd == -1 && !d->ended);
        FUZZ_REQUIRE(p->version == WRITER_PROTOCOL_VERSION && p->op == q->op && p->seq == q->seq);
        FUZZ_REQUIRE(p->error <= 0 && p->error >= -ERRNO_MAX && !(p->flags & ~known));
        check_strings(p);
        FUZZ_REQUIRE(p->flags & WRITER_LAST || q->op == WRITER_LIST);
        FUZZ_REQUIRE(q->op == WRITER_LIST || p->kind == q->kind);
        FUZZ_REQUIRE(!(p->flags & WRITER_WRITTEN) || d->written);
        FUZZ_REQUIRE(!(p->flags & WRITER_NO_LEDGER) || p->error < 0);
        FUZZ_REQUIRE(!(p->flags & WRITER_NO_LEDGER) || q->op != WRITER_SET || !d->tried);
        FUZZ_REQUIRE(!(p->flags & WRITER_REFUSED) || p->error < 0);
        FUZZ_REQUIRE(!(p->flags & WRITER_HELD) || (q->op == WRITER_LIST && !*p->path && *p->device));
        FUZZ_REQUIRE(!(p->flags & WRITER_SCRIPT) || q->op == WRITER_BAN);
        d->n_replies++;
        d->ended = p->flags & WRITER_LAST;
        d->last_error = p->error;
        d->last_flags = p->flags;
        return 0;
}

static bool has_names(const WriterRequest *q)
{
        return *q->device && table_is_text(q->device) && table_is_text(q->id);
}

static void check_set(const Desk *d, const WriterRequest *q, int error)
{
        const uint32_t kind = table_kind(q->path);

        if (kind == 0 || q->kind != kind)
                FUZZ_REQUIRE(error == -EOPNOTSUPP);
        else if (!has_names(q) || !table_takes(kind, q->value))
                FUZZ_REQUIRE(error == -EINVAL);
        else if (d->held)
                FUZZ_REQUIRE(error == -EBUSY || error == -EINVAL);
        if (error == -EOPNOTSUPP || error == -EBUSY)
                FUZZ_REQUIRE(!d->tried || d->answer != DESK_TAKES);
}

/* There is no irqbalance here; only what the policy script reads is kept. */
static void check_ban(const Desk *d, const WriterRequest *q, int error)
{
        FUZZ_REQUIRE(!d->tried);
        if (*q->path && !table_is_socket(q->path))
                FUZZ_REQUIRE(error == -EOPNOTSUPP);
        else if (!*q->path)
                FUZZ_REQUIRE(error == 0 || error == -EINVAL || error == -E2BIG);
        else if (*q->value)
                FUZZ_REQUIRE(error < 0);
}

static void check_last(const Desk *d, const WriterRequest *q)
{
        const int error = d->last_error;

        FUZZ_REQUIRE(d->ended && (d->n_replies == 1 || q->op == WRITER_LIST));
        FUZZ_REQUIRE(d->written == !!(d->last_flags & WRITER_WRITTEN));
        switch (q->op) {
        case WRITER_SET:
                check_set(d, q, error);
                break;
        case WRITER_HOLD:
        case WRITER_RELEASE:
                FUZZ_REQUIRE(error == (has_names(q) ? 0 : -EINVAL));
                FUZZ_REQUIRE(!has_names(q) || ledger_is_held(d->ledger, q->device) == (q->op == WRITER_HOLD));
                break;
        case WRITER_RESTORE:
                break;
        case WRITER_LIST:
                FUZZ_REQUIRE(error == 0 && d->n_replies == ledger_count(d->ledger) + 1);
                break;
        case WRITER_BAN:
                check_ban(d, q, error);
                break;
        case WRITER_RUNS_BEGIN: /* nothing runs on a copy */
                FUZZ_REQUIRE(!d->tried && error == (table_is_queue(q->value) ? -EOPNOTSUPP : -EINVAL));
                break;
        case WRITER_RUNS_END:
                FUZZ_REQUIRE(error == -ENODATA);
                break;
        default:
                FUZZ_REQUIRE(error == -EOPNOTSUPP);
        }
}

/* What the writer wrote can be put back, or is as it was. */
static void check_objects(Desk *d)
{
        for (size_t i = 0; i < ARRAY_SIZE(d->land.objects); i++) {
                Object *o = &d->land.objects[i];
                const LedgerEntry *e = ledger_find(d->ledger, land_paths[i]);
                _cleanup_(freep) char *now = NULL;

                if (!o->first)
                        continue;
                if (e && e->first && strcmp(e->first, o->first) == 0)
                        continue;
                now = land_read(&d->land, o);
                FUZZ_REQUIRE(!o->touched || strcmp(now, o->first) == 0 ||
                             operation_equal(operation_find(o->kind), now, o->first));
                free(o->first);
                o->first = NULL;
                o->touched = false;
        }
}

/* A short message in its own room, so that a sanitizer sees a read behind it. */
static int send_by_hand(Desk *d, const WriterRequest *q, size_t size)
{
        _cleanup_(freep) WriterRequest *exact = NULL;

        if (size == sizeof(*q))
                return writer_handle(d->writer, q, size, on_reply, d);
        exact = malloc(size ? size : 1);
        FUZZ_REQUIRE(exact);
        memcpy(exact, q, size);
        return writer_handle(d->writer, exact, size, on_reply, d);
}

/* With a descriptor that nobody asked for. */
static int send_by_socket(Desk *d, const WriterRequest *q, size_t size)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec iov = { (void *)(uintptr_t)q, size };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
        _cleanup_(freep) WriterReply *reply = NULL;
        ssize_t n;
        int r;

        m.msg_controllen = sizeof(control);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &d->pair[0], sizeof(int));
        FUZZ_REQUIRE(sendmsg(d->pair[0], &m, MSG_DONTWAIT) == (ssize_t)size);
        r = writer_serve_one(d->writer, d->pair[1]);
        reply = malloc(sizeof(*reply) + 1);
        FUZZ_REQUIRE(reply);
        while ((n = recv(d->pair[0], reply, sizeof(*reply) + 1, MSG_DONTWAIT)) >= 0) {
                FUZZ_REQUIRE(n == sizeof(*reply));
                FUZZ_REQUIRE(on_reply(d, reply, -1) == 0);
        }
        return r == 1 ? 0 : r;
}

static bool is_whole(const WriterRequest *q, size_t size)
{
        return size == sizeof(*q) && q->version == WRITER_PROTOCOL_VERSION &&
               strnlen(q->device, sizeof(q->device)) < sizeof(q->device) &&
               strnlen(q->id, sizeof(q->id)) < sizeof(q->id) &&
               strnlen(q->path, sizeof(q->path)) < sizeof(q->path) &&
               strnlen(q->value, sizeof(q->value)) < sizeof(q->value);
}

int desk_send(Desk *d, const WriterRequest *q, size_t size, bool by_socket)
{
        const unsigned n_open = fuzz_descriptors();
        const bool whole = is_whole(q, size);
        int r;

        d->request = q;
        d->tried = d->written = d->ended = false;
        d->n_replies = 0;
        d->held = whole && ledger_is_held(d->ledger, q->device);
        /* A socket has room for a few replies only, and nobody takes them meanwhile. */
        if (by_socket && q->op != WRITER_LIST && size > 0)
                r = send_by_socket(d, q, size);
        else
                r = send_by_hand(d, q, size);
        FUZZ_REQUIRE(r == (whole ? 0 : -EPROTO));
        FUZZ_REQUIRE(whole || (d->n_replies == 0 && !d->tried));
        if (whole)
                check_last(d, q);
        check_objects(d);
        FUZZ_REQUIRE(fuzz_descriptors() == n_open);
        return r;
}

int desk_ask(Desk *d, WriterOp op, const char *device, const char *path, const char *value)
{
        WriterRequest *q = &d->own;

        memset(q, 0, sizeof(*q));
        q->version = WRITER_PROTOCOL_VERSION;
        q->op = op;
        q->seq = 1;
        snprintf(q->device, sizeof(q->device), "%s", device);
        snprintf(q->path, sizeof(q->path), "%s", path);
        snprintf(q->value, sizeof(q->value), "%s", value);
        q->kind = table_kind(q->path);
        (void)desk_send(d, q, sizeof(*q), false);
        return d->last_error;
}

void desk_answer(Desk *d, DeskAnswer answer, int error)
{
        d->answer = answer;
        d->error = error;
}

void desk_other_value(Desk *d, unsigned object, const char *value)
{
        land_put(&d->land, &d->land.objects[object], value);
}

void desk_replace(Desk *d, unsigned object)
{
        land_replace(&d->land, &d->land.objects[object]);
}

void desk_take_away(Desk *d, unsigned object)
{
        land_take_away(&d->land, &d->land.objects[object]);
}

char *desk_identity(const Desk *d, unsigned object)
{
        const Object *o = &d->land.objects[object];
        char *identity = NULL;

        if (o->gone || object_identity(d->root, land_paths[object], &identity) < 0)
                return NULL;
        return identity;
}

/* The objects whose first values were in the ledger before it was opened. */
static void adopt(Desk *d)
{
        for (unsigned i = 0; i < ARRAY_SIZE(d->land.objects); i++) {
                const LedgerEntry *e = ledger_find(d->ledger, land_paths[i]);
                _cleanup_(freep) char *identity = desk_identity(d, i);
                Object *o = &d->land.objects[i];

                if (!o->first && e && e->first && e->kind == o->kind && identity &&
                    strcmp(identity, e->identity) == 0)
                        o->first = strdup(e->first);
        }
}

void desk_close(Desk *d)
{
        d->writer = writer_free(d->writer);
        d->ledger = ledger_free(d->ledger);
}

int desk_open(Desk *d, Error *e)
{
        int r;

        desk_close(d);
        r = ledger_open(d->folder, "", &d->ledger, e);
        if (r < 0)
                return r;
        FUZZ_REQUIRE(writer_new(d->root, d->ledger, &d->sink, &d->writer) == 0);
        writer_set_log(d->writer, on_event, d);
        adopt(d);
        return 0;
}

const char *desk_ledger_file(const Desk *d)
{
        return d->file;
}

/* One text for all that a ledger says. */
static char *tell(const Ledger *l)
{
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        for (size_t i = 0; i < ledger_count(l); i++) {
                const LedgerEntry *e = ledger_entry(l, i);

                FUZZ_REQUIRE(e->held ? ledger_is_held(l, e->device) : ledger_find(l, e->path) == e);
                fprintf(f, "%d %s|%s|%s|%s|%u|%s|%s|%d\n", e->held, e->held ? "" : e->path, e->device, e->id,
                        e->identity, e->kind, e->first ? e->first : "(none)", e->set ? e->set : "(none)",
                        e->refused);
        }
        FUZZ_REQUIRE(fclose(f) == 0 && text);
        return text;
}

void desk_check_reload(Desk *d)
{
        _cleanup_(freep) char *before = tell(d->ledger), *after = NULL;

        FUZZ_REQUIRE(desk_open(d, NULL) == 0);
        after = tell(d->ledger);
        FUZZ_REQUIRE(strcmp(before, after) == 0);
}

/* Large records of something that is forgotten again, until what is old outweighs the rest: another file
 * then. */
void desk_check_rewrite(Desk *d)
{
        _cleanup_(freep) char *before = tell(d->ledger), *after = NULL, *large = calloc(1, 100001);
        LedgerEntry e = {
                .path = (char *)"x", .device = (char *)"y", .id = (char *)"", .first = (char *)"0"
        };
        struct stat old, new;

        FUZZ_REQUIRE(stat(d->file, &old) == 0);
        FUZZ_REQUIRE(large && !ledger_find(d->ledger, "x"));
        memset(large, 'z', 100000);
        e.identity = large;
        for (int i = 0; i < 3; i++) {
                FUZZ_REQUIRE(ledger_put_first(d->ledger, &e) == 0);
                FUZZ_REQUIRE(ledger_forget(d->ledger, "x") == 0);
        }
        after = tell(d->ledger);
        FUZZ_REQUIRE(strcmp(before, after) == 0);
        FUZZ_REQUIRE(stat(d->file, &new) == 0 && new.st_ino != old.st_ino);
        desk_check_reload(d);
}

/* What the objects said at first they say again. */
static void restore_object(Desk *d, unsigned i)
{
        Object *o = &d->land.objects[i];
        _cleanup_(freep) char *first = o->first ? strdup(o->first) : NULL, *now = NULL;
        int r = desk_ask(d, WRITER_RESTORE, "pci:x", land_paths[i], "");

        if (!first)
                return;
        now = land_read(&d->land, o);
        FUZZ_REQUIRE(r == 0 || !table_takes(o->kind, first));
        FUZZ_REQUIRE(r < 0 || strcmp(now, first) == 0 ||
                     operation_equal(operation_find(o->kind), now, first));
}

void desk_check_restore(Desk *d)
{
        size_t i = 0;

        desk_answer(d, DESK_TAKES, 0);
        for (unsigned k = 0; k < ARRAY_SIZE(d->land.objects); k++)
                restore_object(d, k);
        while (i < ledger_count(d->ledger)) {
                const LedgerEntry *e = ledger_entry(d->ledger, i);
                _cleanup_(freep) char *path = strdup(e->path ? e->path : "");

                (void)desk_ask(d, WRITER_RESTORE, "", path, "");
                if (i < ledger_count(d->ledger) && ledger_entry(d->ledger, i) == e)
                        i++;
        }
        (void)desk_ask(d, WRITER_LIST, "", "", "");
        land_check_bait(&d->land);
}

static void remove_desk(void)
{
        land_remove(&the_desk->land);
}

Desk *desk_get(void)
{
        static const char *const files[] = { "ledger", "irqs", "irqbalance" };
        Desk *d = the_desk;

        if (!d) {
                d = calloc(1, sizeof(*d));
                FUZZ_REQUIRE(d);
                land_make(&d->land);
                FUZZ_REQUIRE(root_open(d->land.root, &d->root) == 0);
                FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, d->pair) == 0);
                snprintf(d->folder, sizeof(d->folder), "%s/ledger", d->land.dir);
                snprintf(d->file, sizeof(d->file), "%s/ledger", d->folder);
                snprintf(d->copy_folder, sizeof(d->copy_folder), "%s/copy", d->land.dir);
                snprintf(d->copy, sizeof(d->copy), "%s/ledger", d->copy_folder);
                FUZZ_REQUIRE(mkdir(d->folder, 0700) == 0 && mkdir(d->copy_folder, 0700) == 0);
                d->sink = (WriterSink) { .write = on_write, .userdata = d };
                the_desk = d;
                FUZZ_REQUIRE(atexit(remove_desk) == 0);
        }
        desk_close(d);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_(freep) char *path = strf("%s/%s", d->folder, files[i]);

                FUZZ_REQUIRE(path);
                (void)unlink(path);
        }
        land_reset(&d->land);
        desk_answer(d, DESK_TAKES, 0);
        return d;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/identity.h"
#include "standin/standin.h"
#include "tree.h"
#include "writer/ops.h"
#include "writer/writer.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define IRQ30 "proc/irq/30/smp_affinity_list"
#define IRQ31 "proc/irq/31/smp_affinity_list"
#define PCI   "sys/bus/pci/devices"
#define QUEUE "sys/devices/virtual/workqueue/iscsi_q_0/cpumask"

/* A writer whose sink does what a test wants, and notes what came to it. */
typedef struct Desk {
        Machine machine;
        char folder[SCRATCH_MAX];
        Ledger *ledger;
        Standin *standin;
        WriterSink kernel; /* the stand-in's */
        WriterSink sink;
        Writer *writer;
        WriterRequest request;
        WriterReply reply;
        Strv replies; /* of LIST */
        Strv events;
        int n_replies;
        int n_writes;
        int error;            /* what the sink answers; 0 = it asks the stand-in */
        bool die_before, die; /* the process ends before or after the write */
        const char *device;   /* of the request; NULL = pci:x */
        char *seen;           /* what a copy of the ledger said while the sink was at work */
} Desk;

/* What the ledger's file would say after a kill at this instant. */
static char *tell_file(const Desk *d)
{
        char folder[SCRATCH_MAX];
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_(freep) char *command = NULL;
        const LedgerEntry *e;

        scratch_make(folder, "copy");
        command = strf("cp %s/ledger %s/ledger", d->folder, folder);
        assert_int_equal(system(command), 0);
        assert_int_equal(ledger_open(folder, "", &l, NULL), 0);
        remove_folder(folder);
        e = ledger_count(l) > 0 ? ledger_entry(l, ledger_count(l) - 1) : NULL;
        return e ? strf("%s first=%s set=%s", e->path, e->first ? e->first : "-", e->set ? e->set : "-")
                 : strdup("nothing");
}

static int on_write(void *userdata, const Root *root, WriterKind kind, const char *path, const char *value)
{
        Desk *d = userdata;
        int r;

        d->n_writes++;
        free(d->seen);
        d->seen = tell_file(d);
        if (d->die_before)
                _exit(7);
        r = d->error ? d->error : d->kernel.write(d->kernel.userdata, root, kind, path, value);
        if (d->die)
                _exit(7);
        return r;
}

static void on_event(void *userdata, const WriterEvent *e)
{
        Desk *d = userdata;
        _cleanup_(freep) char *line = strf("%s %s %s->%s %d", e->op == WRITER_SET ? "set" : "restore",
                                           e->denied ? "denied" : e->knob, e->old_value ? e->old_value : "",
                                           e->new_value, e->error);

        assert_int_equal(strv_add(&d->events, line), 0);
}

static int on_reply(void *userdata, const WriterReply *reply, int fd)
{
        Desk *d = userdata;

        assert_int_equal(fd, -1);
        d->n_replies++;
        d->reply = *reply;
        if (!(reply->flags & WRITER_LAST)) {
                _cleanup_(freep) char *line =
                        strf("%s %s first=%s set=%s value=%s error=%d flags=%u", reply->device, reply->path,
                             reply->first, reply->set, reply->value, reply->error, reply->flags);

                assert_int_equal(strv_add(&d->replies, line), 0);
        }
        return 0;
}

static void open_ledger(Desk *d)
{
        d->writer = writer_free(d->writer);
        d->ledger = ledger_free(d->ledger);
        assert_int_equal(ledger_open(d->folder, "", &d->ledger, NULL), 0);
        assert_int_equal(writer_new(d->machine.root, d->ledger, &d->sink, &d->writer), 0);
        writer_set_log(d->writer, on_event, d);
}

static int setup(void **state)
{
        Desk *d = calloc(1, sizeof(*d));

        assert_int_equal(machine_init(&d->machine), 0);
        scratch_make(d->folder, "ledger");
        assert_int_equal(standin_new(d->machine.root, &d->standin), 0);
        d->kernel = standin_sink(d->standin);
        d->sink = (WriterSink) { .write = on_write, .userdata = d };
        open_ledger(d);
        *state = d;
        return 0;
}

static int teardown(void **state)
{
        Desk *d = *state;

        writer_free(d->writer);
        ledger_free(d->ledger);
        standin_free(d->standin);
        strv_clear(&d->replies);
        strv_clear(&d->events);
        free(d->seen);
        remove_folder(d->folder);
        machine_done(&d->machine);
        free(d);
        return 0;
}

/* Fills in the request that a well-behaved daemon would send. */
static void ask(Desk *d, WriterOp op, const char *path, const char *value)
{
        memset(&d->request, 0, sizeof(d->request));
        d->request.version = WRITER_PROTOCOL_VERSION;
        d->request.op = op;
        d->request.kind = strncmp(path, "sys/", 4) == 0 ? WRITER_WORKQUEUE_CPUMASK : WRITER_IRQ_AFFINITY;
        d->request.seq = 17;
        snprintf(d->request.device, sizeof(d->request.device), "%s", d->device ? d->device : "pci:x");
        snprintf(d->request.id, sizeof(d->request.id), "pci:x~knob~q0");
        assert_true(strlen(path) < sizeof(d->request.path));
        snprintf(d->request.path, sizeof(d->request.path), "%s", path);
        snprintf(d->request.value, sizeof(d->request.value), "%s", value);
}

/* Sends it; exactly one reply says that it is the last one. Returns its error. */
static int go(Desk *d)
{
        d->n_replies = 0;
        assert_int_equal(writer_handle(d->writer, &d->request, sizeof(d->request), on_reply, d), 0);
        assert_true(d->n_replies >= 1);
        assert_int_equal(d->reply.seq, 17);
        assert_true(d->reply.flags & WRITER_LAST);
        return d->reply.error;
}

static int set(Desk *d, const char *path, const char *value)
{
        ask(d, WRITER_SET, path, value);
        return go(d);
}

static int restore(Desk *d, const char *path)
{
        ask(d, WRITER_RESTORE, path, "");
        return go(d);
}

static void expect_reply(const Desk *d, bool written, const char *first, const char *want_set,
                         const char *value)
{
        assert_int_equal(!!(d->reply.flags & WRITER_WRITTEN), written);
        assert_string_equal(d->reply.first, first);
        assert_string_equal(d->reply.set, want_set);
        assert_string_equal(d->reply.value, value);
}

static void expect_event(const Desk *d, const char *want)
{
        assert_true(d->events.n > 0);
        assert_string_equal(d->events.items[d->events.n - 1], want);
}

static off_t ledger_size(const Desk *d)
{
        _cleanup_(freep) char *file = strf("%s/ledger", d->folder);
        struct stat st;

        assert_int_equal(stat(file, &st), 0);
        return st.st_size;
}

static void sets_and_restores(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, IRQ30, "3"), 0);
        expect_reply(d, true, "0-7", "3", "3");
        expect_event(d, "set irq.affinity 0-7->3 0");
        assert_int_equal(set(d, IRQ30, "4-5"), 0);
        expect_reply(d, true, "0-7", "4-5", "4-5");
        assert_int_equal(set(d, QUEUE, "30"), 0);
        expect_reply(d, true, "ff", "30", "30");
        expect_event(d, "set workqueue.cpumask ff->30 0");
        open_ledger(d);
        assert_int_equal(restore(d, IRQ30), 0);
        expect_reply(d, true, "0-7", "4-5", "0-7");
        expect_event(d, "restore irq.affinity 4-5->0-7 0");
        assert_int_equal(restore(d, QUEUE), 0);
        machine_expect(&d->machine, QUEUE, "ff");
        assert_int_equal(ledger_count(d->ledger), 0);
        assert_int_equal(d->n_writes, 5);
        /* Nothing is left to put back. */
        assert_int_equal(restore(d, IRQ30), 0);
        assert_int_equal(d->n_writes, 5);
}

/* The first value and the new one are in the file before the knob is touched. */
static void ledger_comes_first(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, IRQ30, "3"), 0);
        assert_string_equal(d->seen, IRQ30 " first=0-7 set=3");
        assert_int_equal(set(d, IRQ30, "4"), 0);
        assert_string_equal(d->seen, IRQ30 " first=0-7 set=4");
}

static void die_in_write(Desk *d)
{
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                (void)set(d, IRQ30, "3");
                _exit(1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        d->die = d->die_before = false;
        open_ledger(d);
        assert_int_equal(ledger_count(d->ledger), 1);
        assert_string_equal(ledger_find(d->ledger, IRQ30)->first, "0-7");
}

static void killed_after_the_write(void **state)
{
        Desk *d = *state;

        d->die = true;
        die_in_write(d);
        machine_expect(&d->machine, IRQ30, "3");
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
}

static void killed_before_the_write(void **state)
{
        Desk *d = *state;

        d->die_before = true;
        die_in_write(d);
        machine_expect(&d->machine, IRQ30, "0-7");
        assert_int_equal(restore(d, IRQ30), 0);
        expect_reply(d, false, "0-7", "3", "0-7");
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(ledger_count(d->ledger), 0);
}

/* Sets are compared, not texts. */
static void right_values_are_not_written(void **state)
{
        Desk *d = *state;
        off_t size = ledger_size(d);

        assert_int_equal(set(d, IRQ30, "0,1,2,3-7"), 0);
        expect_reply(d, false, "", "", "0-7");
        assert_int_equal(set(d, QUEUE, "000000FF"), 0);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(ledger_size(d), size);
        assert_int_equal(d->events.n, 0);
        /* Somebody else wrote what is now wanted: no drift any more. */
        assert_int_equal(set(d, IRQ30, "3"), 0);
        machine_put(&d->machine, IRQ30, "4\n");
        assert_int_equal(set(d, IRQ30, "4"), 0);
        expect_reply(d, false, "0-7", "4", "4");
}

static void bad_paths(void **state)
{
        static const char *const bad[] = {
                "",
                "proc/irq/default_smp_affinity",
                "proc/irq/30/smp_affinity",
                "proc/irq/30/smp_affinity_list/",
                "proc/irq/30/smp_affinity_list/x",
                "proc/irq/30//smp_affinity_list",
                "proc/irq//smp_affinity_list",
                "proc/irq/./smp_affinity_list",
                "proc/irq/../irq/30/smp_affinity_list",
                "proc/irq/30/../30/smp_affinity_list",
                "proc/irq/030/smp_affinity_list",
                "proc/irq/-1/smp_affinity_list",
                "proc/irq/+30/smp_affinity_list",
                "proc/irq/30 /smp_affinity_list",
                "proc/irq/3x/smp_affinity_list",
                "proc/irq/0x1e/smp_affinity_list",
                "proc/irq/1234567890/smp_affinity_list",
                "proc/irq/30/smp_affinity_lis",
                "proc/irq/30/smp_affinity_list2",
                "proc/irq/30",
                "proc/irq/30/smp_affinity_list\n",
                "/proc/irq/30/smp_affinity_list",
                "./proc/irq/30/smp_affinity_list",
                "Proc/irq/30/smp_affinity_list",
                "proc/sys/kernel/core_pattern",
                "sys/devices/virtual/workqueue/cpumask",
                "sys/devices/virtual/workqueue//cpumask",
                "sys/devices/virtual/workqueue/./cpumask",
                "sys/devices/virtual/workqueue/../cpumask",
                "sys/devices/virtual/workqueue/.../cpumask",
                "sys/devices/virtual/workqueue/iscsi_q_0/max_active",
                "sys/devices/virtual/workqueue/iscsi q/cpumask",
                "sys/devices/virtual/workqueue/iscsi_q_0/cpumask/",
                "sys/devices/virtual/workqueue/a/b/cpumask",
                "sys/devices/virtual/workqueue/q\xc3\xa4/cpumask",
                "sys/devices/virtual/workqueue/*/cpumask",
                "sys/devices/virtual/workqueue/iscsi_q_0/../../../../../proc/irq/30/smp_affinity_list",
                QUEUE,
        };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                for (uint32_t kind = 0; kind < _WRITER_KIND_MAX + 2; kind++) {
                        if (kind == WRITER_WORKQUEUE_CPUMASK && strcmp(bad[i], QUEUE) == 0)
                                continue;
                        ask(d, WRITER_SET, bad[i], "1");
                        d->request.kind = kind;
                        assert_int_equal(go(d), -EOPNOTSUPP);
                        expect_event(d, "set denied ->1 -95");
                }
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(ledger_count(d->ledger), 0);
}

static void good_paths(void **state)
{
        const Operation *irq = operation_find(WRITER_IRQ_AFFINITY);
        const Operation *queue = operation_find(WRITER_WORKQUEUE_CPUMASK);

        assert_true(operation_accepts_path(irq, "proc/irq/0/smp_affinity_list"));
        assert_true(operation_accepts_path(irq, "proc/irq/123456789/smp_affinity_list"));
        assert_true(operation_accepts_path(queue, "sys/devices/virtual/workqueue/iscsi_ctrl_0:1/cpumask"));
        assert_true(operation_accepts_path(queue, "sys/devices/virtual/workqueue/nvme-wq/cpumask"));
        assert_true(operation_accepts_path(queue, "sys/devices/virtual/workqueue/kcryptd-253:0-1/cpumask"));
        assert_true(operation_accepts_path(queue, "sys/devices/virtual/workqueue/a.b/cpumask"));
}

static void paths_of_any_depth(void **state)
{
        const Operation *host = operation_find(WRITER_ISCSI_XMIT_NUMA);
        const Operation *disk = operation_find(WRITER_BLOCK_MAX_SECTORS);

        assert_true(operation_accepts_path(host, "sys/devices/platform/host4/scsi_host/host4/xmit_numa"));
        assert_false(operation_accepts_path(host, "sys/devices/platform/host4/scsi_host/host5/xmit_numa"));
        assert_false(operation_accepts_path(host, "sys/devices/platform/host4/scsi_host/host44/xmit_numa"));
        assert_false(operation_accepts_path(host, "sys/devices/platform/host/scsi_host/host/xmit_numa"));
        assert_false(operation_accepts_path(host, "sys/devices/platform/host04/scsi_host/host04/xmit_numa"));
        assert_true(operation_accepts_path(disk, "sys/devices/pci0000:00/0000:00:05.0/host0/target0:0:0/"
                                                 "0:0:0:0/block/sda/queue/max_sectors_kb"));
        assert_false(operation_accepts_path(disk, "sys/devices/queue/max_sectors_kb"));
        assert_false(operation_accepts_path(disk, "sys/devices/a/queue/max_sectors_kb/"));
        assert_false(operation_accepts_path(disk, "sys/devices/a/../queue/max_sectors_kb"));
        assert_false(operation_accepts_path(disk, "sys/devices/a//queue/max_sectors_kb"));
        assert_false(operation_accepts_path(disk, "sys/devices/a/queue"));
        assert_false(operation_accepts_path(disk, "sys/devices/"));
        assert_false(operation_accepts_path(disk, "sys/devices"));
}

static void bad_values(void **state)
{
        static const char *const lists[] = { "",
                                             " ",
                                             "\n",
                                             "x",
                                             "1,",
                                             ",1",
                                             "3-1",
                                             "0x1",
                                             "1-3:1/2",
                                             "(null)",
                                             "all",
                                             "-1",
                                             "1 2",
                                             "1\n",
                                             "N",
                                             "0-N",
                                             "1,,2",
                                             "65536",
                                             "99999999999999999999" };
        static const char *const masks[] = { "",  "0",   "00000000", "0,00000000", " 1", "1\n",
                                             "g", "0x3", "1-2",      "1,",         ",1", "1,,1" };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                assert_int_equal(set(d, IRQ30, lists[i]), -EINVAL);
        for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
                assert_int_equal(set(d, QUEUE, masks[i]), -EINVAL);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(d->events.n, ARRAY_SIZE(lists) + ARRAY_SIZE(masks));
}

static void bad_names(void **state)
{
        Desk *d = *state;

        ask(d, WRITER_SET, IRQ30, "1");
        d->request.device[0] = '\0';
        assert_int_equal(go(d), -EINVAL);
        ask(d, WRITER_SET, IRQ30, "1");
        d->request.id[2] = '\n';
        assert_int_equal(go(d), -EINVAL);
        ask(d, WRITER_HOLD, "", "");
        d->request.device[3] = '\x7f';
        assert_int_equal(go(d), -EINVAL);
        ask(d, WRITER_RELEASE, "", "");
        d->request.device[0] = '\0';
        assert_int_equal(go(d), -EINVAL);
        ask(d, _WRITER_OP_MAX, IRQ30, "1");
        assert_int_equal(go(d), -EOPNOTSUPP);
        ask(d, 0, IRQ30, "1");
        assert_int_equal(go(d), -EOPNOTSUPP);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(ledger_count(d->ledger), 0);
}

static int handle(Desk *d, size_t size)
{
        d->n_replies = 0;
        return writer_handle(d->writer, &d->request, size, on_reply, d);
}

static void no_messages(void **state)
{
        Desk *d = *state;

        ask(d, WRITER_SET, IRQ30, "1");
        assert_int_equal(handle(d, sizeof(d->request) - 1), -EPROTO);
        assert_int_equal(handle(d, sizeof(d->request) + 1), -EPROTO);
        assert_int_equal(handle(d, 0), -EPROTO);
        d->request.version++;
        assert_int_equal(handle(d, sizeof(d->request)), -EPROTO);
        ask(d, WRITER_SET, IRQ30, "1");
        memset(d->request.device, 'x', sizeof(d->request.device));
        assert_int_equal(handle(d, sizeof(d->request)), -EPROTO);
        ask(d, WRITER_SET, IRQ30, "1");
        memset(d->request.id, 'x', sizeof(d->request.id));
        assert_int_equal(handle(d, sizeof(d->request)), -EPROTO);
        ask(d, WRITER_SET, IRQ30, "1");
        memset(d->request.path, 'x', sizeof(d->request.path));
        assert_int_equal(handle(d, sizeof(d->request)), -EPROTO);
        ask(d, WRITER_SET, IRQ30, "1");
        memset(d->request.value, '1', sizeof(d->request.value));
        assert_int_equal(handle(d, sizeof(d->request)), -EPROTO);
        assert_int_equal(d->n_replies, 0);
        assert_int_equal(d->n_writes, 0);
}

/* What the kernel refuses for good is not tried again, as long as it is the same object. */
static void refusals_are_kept(void **state)
{
        static const int errors[] = { -EIO, -EPERM, -EACCES };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                _cleanup_(freep) char *path = strf("proc/irq/%zu/smp_affinity_list", 30 + i);

                d->error = errors[i];
                assert_int_equal(set(d, path, "3"), errors[i]);
                expect_reply(d, false, "", "", "0-7");
                assert_true(d->reply.flags & WRITER_REFUSED);
                open_ledger(d);
                d->error = 0;
                assert_int_equal(set(d, path, "4"), errors[i]);
                assert_true(d->reply.flags & WRITER_REFUSED);
                assert_int_equal(d->n_writes, i + 1);
                assert_int_equal(restore(d, path), 0);
        }
        assert_int_equal(d->events.n, 3);
        machine_put(&d->machine, "sys/kernel/irq/31/hwirq", "77\n");
        assert_int_equal(set(d, IRQ31, "4"), 0);
        expect_reply(d, true, "0-7", "4", "4");
}

static void other_errors_leave_no_trace(void **state)
{
        static const int errors[] = { -ENOSPC, -EINVAL, -EBUSY, -EROFS, -ENOENT };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                d->error = errors[i];
                assert_int_equal(set(d, IRQ30, "3"), errors[i]);
                assert_false(d->reply.flags & (WRITER_REFUSED | WRITER_WRITTEN | WRITER_NO_LEDGER));
                assert_int_equal(ledger_count(d->ledger), 0);
        }
        d->error = 0;
        assert_int_equal(set(d, IRQ30, "3"), 0);
        d->error = -ENOSPC;
        assert_int_equal(set(d, IRQ30, "4"), -ENOSPC);
        expect_reply(d, false, "0-7", "3", "3");
        expect_event(d, "set irq.affinity 3->4 -28");
}

/* The number 30 is given to another interrupt: its own first value counts, the old one is not put there. */
static void reused_number(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, IRQ30, "3"), 0);
        machine_put(&d->machine, "sys/kernel/irq/30/hwirq", "77\n");
        machine_put(&d->machine, IRQ30, "0-5\n");
        assert_int_equal(set(d, IRQ30, "4"), 0);
        expect_reply(d, true, "0-5", "4", "4");
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-5");

        assert_int_equal(set(d, IRQ30, "3"), 0);
        machine_put(&d->machine, "sys/kernel/irq/30/chip_name", "ITS-MSI\n");
        assert_int_equal(restore(d, IRQ30), -ENODEV);
        machine_expect(&d->machine, IRQ30, "3");
        assert_int_equal(ledger_count(d->ledger), 0);
        assert_int_equal(restore(d, IRQ30), 0);
}

static void replace_folder(const Desk *d, const char *folder)
{
        _cleanup_(freep) char *old = strf("%s/%s", d->machine.dir, folder), *aside = strf("%s.old", old);

        /* Kept beside, so that its inode is not given out again. */
        assert_int_equal(rename(old, aside), 0);
}

/* Between plan and write the interrupt went, or its number went to another device. */
static void number_of_another_device(void **state)
{
        static const char *const nobodys[] = { "pci:0000:00:04.0", "pci:", "pci:../0000:00:02.0" };
        Desk *d = *state;

        machine_put(&d->machine, PCI "/0000:00:02.0/msi_irqs/30", "msix\n");
        machine_put(&d->machine, PCI "/0000:00:02.0/msi_irqs/31", "msix\n");
        machine_put(&d->machine, PCI "/0000:00:03.0/class", "0x020000\n");
        d->device = "pci:0000:00:02.0";
        assert_int_equal(set(d, IRQ30, "3"), 0);
        replace_folder(d, PCI "/0000:00:02.0/msi_irqs/30");
        assert_int_equal(set(d, IRQ30, "4"), -ENODEV);
        expect_reply(d, false, "", "", "");
        assert_int_equal(set(d, IRQ31, "4"), 0);

        /* Neither a list nor a driver; then the line interrupt of its driver. */
        d->device = "pci:0000:00:03.0";
        assert_int_equal(set(d, IRQ30, "4"), -ENODEV);
        machine_put(&d->machine, PCI "/0000:00:03.0/driver/x", "");
        assert_int_equal(set(d, IRQ30, "4"), 0);
        for (size_t i = 0; i < ARRAY_SIZE(nobodys); i++) {
                d->device = nobodys[i];
                assert_int_equal(set(d, IRQ30, "5"), -ENODEV);
        }
        machine_expect(&d->machine, IRQ30, "4");
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
}

#define HOST0 "sys/devices/pci0000:00/0000:00:02.0/host0"
#define SOFT0 "sys/devices/platform/host0"
#define IQN   "iqn.2024-01.test:t1"

static void put_host(const Desk *d, const char *class, const char *folder)
{
        _cleanup_(freep) char *real = strf("%s/%s/host0", folder, class);
        _cleanup_(freep) char *link = strf("sys/class/%s/host0", class);

        tree_folder(&d->machine, "%s", real);
        tree_link(&d->machine, link, real);
}

static void put_session(const Desk *d, const char *iface, const char *target)
{
        machine_put(&d->machine, SOFT0 "/session1/iscsi_session/session1/targetname", target);
        machine_put(&d->machine, SOFT0 "/session1/iscsi_session/session1/ifacename", iface);
}

/* Between plan and write a host went, or its number went to another device. */
static void workqueue_of_another_host(void **state)
{
        Desk *d = *state;

        /* Nothing shows whose it is. */
        d->device = "pci:0000:00:02.0";
        assert_int_equal(set(d, QUEUE, "1"), 0);
        put_host(d, "scsi_host", HOST0);
        assert_int_equal(set(d, QUEUE, "3"), 0);
        d->device = "pci:0000:00:03.0";
        assert_int_equal(set(d, QUEUE, "4"), -ENODEV);
        expect_reply(d, false, "", "", "");
        d->device = "pci:0000:00:02.0";
        replace_folder(d, "sys/class/scsi_host/host0");
        assert_int_equal(set(d, QUEUE, "4"), -ENODEV);
        machine_expect(&d->machine, QUEUE, "03");
        assert_int_equal(restore(d, QUEUE), 0);
        machine_expect(&d->machine, QUEUE, "ff");
}

static void workqueue_of_another_session(void **state)
{
        static const char *const ours[] = { "iscsi:default:" IQN, "iscsi:default:" IQN "#2" };
        static const char *const others[] = { "iscsi:default:" IQN "0",
                                              "iscsi:default:" IQN "#x",
                                              "iscsi:iface1:" IQN,
                                              "iscsi:default:",
                                              "iscsi:",
                                              "iscsi:default:iqn.2024-01.test:t",
                                              "pci:0000:00:02.0" };
        Desk *d = *state;

        put_host(d, "iscsi_host", SOFT0);
        put_host(d, "scsi_host", SOFT0);
        d->device = "iscsi:default:"; /* not logged in yet */
        assert_int_equal(set(d, QUEUE, "1"), 0);
        put_session(d, "default\n", IQN "\n");
        for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
                d->device = ours[i];
                assert_int_equal(set(d, QUEUE, i ? "3" : "2"), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                d->device = others[i];
                assert_int_equal(set(d, QUEUE, "4"), -ENODEV);
        }
        /* A session that names no interface. */
        put_session(d, "(null)\n", IQN "\n");
        d->device = ours[0];
        assert_int_equal(set(d, QUEUE, "5"), 0);
        put_session(d, "default\n", "iqn.2024-01.test:t2\n");
        assert_int_equal(set(d, QUEUE, "6"), -ENODEV);
        machine_expect(&d->machine, QUEUE, "05");
}

static void object_is_gone_or_another(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, QUEUE, "30"), 0);
        assert_int_equal(set(d, IRQ30, "3"), 0);
        replace_folder(d, "sys/devices/virtual/workqueue/iscsi_q_0");
        replace_folder(d, "sys/kernel/irq/30");
        replace_folder(d, "proc/irq/30");
        assert_int_equal(set(d, QUEUE, "c"), -ENOENT);
        assert_int_equal(set(d, IRQ30, "3"), -ENOENT);
        assert_int_equal(ledger_count(d->ledger), 2);
        assert_int_equal(restore(d, IRQ30), -ENODEV);
        machine_put(&d->machine, QUEUE, "30\n");
        /* The new queue has the wanted value already: the old one's first value is forgotten. */
        assert_int_equal(set(d, QUEUE, "30"), 0);
        expect_reply(d, false, "", "", "30");
        assert_int_equal(ledger_count(d->ledger), 0);
}

/* The first value names CPUs that are offline now: it is kept for later. */
static void restore_that_fails(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, IRQ30, "3"), 0);
        d->error = -EINVAL;
        assert_int_equal(restore(d, IRQ30), -EINVAL);
        expect_reply(d, false, "0-7", "3", "3");
        expect_event(d, "restore irq.affinity 3->0-7 -22");
        /* The kernel may say so while the object is there. */
        d->error = -ENOENT;
        assert_int_equal(restore(d, IRQ30), -ENOENT);
        expect_reply(d, false, "0-7", "3", "3");
        assert_int_equal(ledger_count(d->ledger), 1);
        d->error = 0;
        assert_int_equal(restore(d, IRQ30), 0);
        expect_reply(d, true, "0-7", "3", "0-7");
        /* Somebody else put it back: nothing to write. */
        assert_int_equal(set(d, IRQ30, "3"), 0);
        machine_put(&d->machine, IRQ30, "0-3,4-7\n");
        d->n_writes = 0;
        assert_int_equal(restore(d, IRQ30), 0);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(ledger_count(d->ledger), 0);
}

static void held_devices(void **state)
{
        Desk *d = *state;

        assert_int_equal(set(d, IRQ30, "3"), 0);
        ask(d, WRITER_HOLD, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(go(d), 0);
        open_ledger(d);
        assert_int_equal(set(d, IRQ30, "4"), -EBUSY);
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
        ask(d, WRITER_SET, IRQ31, "4");
        d->request.device[4] = 'y';
        assert_int_equal(go(d), 0);
        ask(d, WRITER_RELEASE, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(go(d), 0);
        assert_int_equal(set(d, IRQ30, "4"), 0);
}

static void lists_the_ledger(void **state)
{
        Desk *d = *state;

        ask(d, WRITER_LIST, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(d->n_replies, 1);
        assert_int_equal(set(d, IRQ30, "3"), 0);
        assert_int_equal(set(d, "proc/irq/40/smp_affinity_list", "3"), -EIO);
        ask(d, WRITER_HOLD, "", "");
        assert_int_equal(go(d), 0);
        machine_put(&d->machine, IRQ30, "5\n");
        ask(d, WRITER_LIST, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(d->n_replies, 4);
        assert_string_equal(d->replies.items[0], "pci:x " IRQ30 " first=0-7 set=3 value=5 error=0 flags=0");
        assert_string_equal(d->replies.items[1],
                            "pci:x proc/irq/40/smp_affinity_list first= set= value=2 error=-5 flags=8");
        assert_string_equal(d->replies.items[2], "pci:x  first= set= value= error=0 flags=4");
        assert_string_equal(d->reply.path, "");
        assert_string_equal(d->reply.value, "");
        /* The number is another interrupt's now, and the folder is gone: neither has a first value. */
        machine_put(&d->machine, "sys/kernel/irq/30/hwirq", "77\n");
        replace_folder(d, "proc/irq/40");
        ask(d, WRITER_LIST, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(d->n_replies, 2);
        assert_int_equal(ledger_count(d->ledger), 1);
}

/* Of a file that the table does not know, which only a stranger's ledger names, nothing is told. */
static void foreign_entries_are_not_read(void **state)
{
        Desk *d = *state;
        _cleanup_(freep) char *identity = NULL;
        LedgerEntry e = { .path = (char *)"etc/secret", .device = (char *)"pci:x", .id = (char *)"" };

        e.identity = e.id;
        e.kind = WRITER_IRQ_AFFINITY;
        e.first = (char *)"1";
        machine_put(&d->machine, "etc/secret", "secret\n");
        assert_int_equal(ledger_put_first(d->ledger, &e), 0);
        ask(d, WRITER_LIST, "", "");
        assert_int_equal(go(d), 0);
        assert_int_equal(d->replies.n, 1);
        assert_string_equal(d->replies.items[0], "pci:x etc/secret first=1 set= value= error=0 flags=0");
        assert_int_equal(restore(d, "etc/secret"), -EOPNOTSUPP);
        machine_expect(&d->machine, "etc/secret", "secret");
        /* Nor does an entry of another kind count for a path of the table: it could not be restored. */
        assert_int_equal(object_identity(d->machine.root, IRQ30, &identity), 0);
        e.path = (char *)IRQ30;
        e.identity = identity;
        e.kind = WRITER_WORKQUEUE_CPUMASK;
        assert_int_equal(ledger_put_first(d->ledger, &e), 0);
        assert_int_equal(set(d, IRQ30, "3"), 0);
        expect_reply(d, true, "0-7", "3", "3");
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
}

/* No room for the first value: the knob is not touched. */
static void no_room_no_write(void **state)
{
        Desk *d = *state;
        rlim_t before;
        int r[4];

        assert_int_equal(set(d, IRQ31, "3"), 0);
        signal(SIGXFSZ, SIG_IGN);
        for (int i = 0; i < 2; i++) {
                /* Room for nothing, then for the first value but not for the one that is set. */
                before = limit_lower(RLIMIT_FSIZE, (rlim_t)ledger_size(d) + (i ? 150 : 10));
                r[2 * i] = set(d, IRQ30, "3");
                r[2 * i + 1] = set(d, IRQ31, "4");
                limit_restore(RLIMIT_FSIZE, before);
                assert_int_equal(r[2 * i], -EFBIG);
                assert_true(d->reply.flags & WRITER_NO_LEDGER || r[2 * i + 1] == 0);
        }
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(r[1], -EFBIG);
        machine_expect(&d->machine, IRQ30, "0-7");
        assert_int_equal(set(d, IRQ31, "3"), 0);
        open_ledger(d);
        assert_string_equal(ledger_find(d->ledger, IRQ31)->first, "0-7");
        assert_string_equal(ledger_find(d->ledger, IRQ31)->set, "3");
}

static void links_are_not_followed(void **state)
{
        Desk *d = *state;
        _cleanup_(freep) char *file = strf("%s/%s", d->machine.dir, IRQ30);
        _cleanup_(freep) char *sink_file = strf("%s/%s", d->machine.dir, IRQ31);

        assert_int_equal(unlink(file), 0);
        assert_int_equal(symlink("../31/smp_affinity_list", file), 0);
        assert_int_equal(set(d, IRQ30, "3"), -ELOOP);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(writer_sink_kernel.write(NULL, d->machine.root, WRITER_IRQ_AFFINITY, IRQ30, "3"),
                         -ELOOP);
        machine_expect(&d->machine, IRQ31, "0-7");
        assert_int_equal(writer_sink_kernel.write(NULL, d->machine.root, WRITER_IRQ_AFFINITY, IRQ31, "3-4"),
                         0);
        machine_expect(&d->machine, IRQ31, "3-4");
        assert_int_equal(unlink(sink_file), 0);
        assert_int_equal(writer_sink_kernel.write(NULL, d->machine.root, WRITER_IRQ_AFFINITY, IRQ31, "3"),
                         -ENOENT);
}

/* Nor is a link that a folder of the path is: it leads to a file that the table does not know. */
static void links_to_folders_are_not_followed(void **state)
{
        Desk *d = *state;
        _cleanup_(freep) char *folder = strf("%s/proc/irq/50", d->machine.dir);
        _cleanup_(freep) char *queue = strf("%s/sys/devices/virtual/workqueue/link", d->machine.dir);

        machine_put(&d->machine, "elsewhere/smp_affinity_list", "0-7\n");
        machine_put(&d->machine, "elsewhere/cpumask", "ff\n");
        assert_int_equal(symlink("/elsewhere", folder), 0);
        assert_int_equal(symlink("../../../../elsewhere", queue), 0);
        assert_int_equal(set(d, "proc/irq/50/smp_affinity_list", "3"), -ELOOP);
        assert_int_equal(set(d, "sys/devices/virtual/workqueue/link/cpumask", "1"), -ELOOP);
        assert_int_equal(d->n_writes, 0);
        assert_int_equal(writer_sink_kernel.write(NULL, d->machine.root, WRITER_IRQ_AFFINITY,
                                                  "proc/irq/50/smp_affinity_list", "3"),
                         -ELOOP);
        machine_expect(&d->machine, "elsewhere/smp_affinity_list", "0-7");
        assert_int_equal(ledger_count(d->ledger), 0);
}

/* What a file said before is written only when it could be asked for. */
static void first_values_are_checked(void **state)
{
        static const char *const firsts[] = { "0", "nonsense", "", "1-2" };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
                machine_put(&d->machine, QUEUE, firsts[i]);
                assert_int_equal(set(d, QUEUE, "30"), 0);
                d->n_writes = 0;
                assert_int_equal(restore(d, QUEUE), -EINVAL);
                expect_reply(d, false, firsts[i], "30", "30");
                assert_int_equal(d->n_writes, 0);
                assert_int_equal(ledger_count(d->ledger), 1);
                machine_put(&d->machine, QUEUE, firsts[i]);
                assert_int_equal(restore(d, QUEUE), 0);
                assert_int_equal(ledger_count(d->ledger), 0);
        }
}

static void values_of_any_length(void **state)
{
        _cleanup_(freep) char *text = calloc(1, WRITER_VALUE_MAX + 2);
        Desk *d = *state;

        memset(text, '1', WRITER_VALUE_MAX - 1);
        machine_put(&d->machine, IRQ30, text);
        d->error = -EINVAL;
        assert_int_equal(set(d, IRQ30, "3"), -EINVAL);
        assert_string_equal(d->reply.value, text);
        text[WRITER_VALUE_MAX - 1] = '1';
        machine_put(&d->machine, IRQ30, text);
        assert_int_equal(set(d, IRQ30, "3"), -E2BIG);
        assert_int_equal(d->n_writes, 1);
}

/* Netlink shows the machine that runs, not the copy. */
static void no_netlink_on_copies(void **state)
{
        Desk *d = *state;

        machine_put(&d->machine, "sys/class/iscsi_host/host0/netdev", "(null)\n");
        ask(d, WRITER_ISCSI, "", "");
        assert_int_equal(go(d), -EOPNOTSUPP);
}

/* Short of descriptors it is not known whether the machine that runs has hosts. */
static void hosts_are_not_denied_unseen(void **state)
{
        _cleanup_(root_freep) Root *live = NULL;
        _cleanup_(writer_freep) Writer *w = NULL;
        Desk *d = *state;
        rlim_t before;

        assert_int_equal(root_open("/", &live), 0);
        assert_int_equal(writer_new(live, d->ledger, &d->sink, &w), 0);
        ask(d, WRITER_ISCSI, "", "");
        before = limit_lower(RLIMIT_NOFILE, next_descriptor());
        assert_int_equal(writer_handle(w, &d->request, sizeof(d->request), on_reply, d), 0);
        limit_restore(RLIMIT_NOFILE, before);
        assert_int_equal(d->reply.error, -EMFILE);
}

static void serves_a_socket(void **state)
{
        _cleanup_(freep) WriterReply *reply = malloc(sizeof(*reply));
        Desk *d = *state;
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ask(d, WRITER_SET, IRQ30, "3");
        assert_int_equal(send(fds[0], &d->request, sizeof(d->request), 0), sizeof(d->request));
        assert_int_equal(writer_serve_one(d->writer, fds[1]), 1);
        assert_int_equal(recv(fds[0], reply, sizeof(*reply), 0), sizeof(*reply));
        assert_int_equal(reply->error, 0);
        assert_string_equal(reply->value, "3");
        assert_int_equal(send(fds[0], "x", 1, 0), 1);
        assert_int_equal(writer_serve(d->writer, fds[1]), -EPROTO);
        assert_int_equal(send(fds[0], &d->request, sizeof(d->request), 0), sizeof(d->request));
        close(fds[0]);
        assert_int_equal(writer_serve(d->writer, fds[1]), 0);
        close(fds[1]);
}

/* --- irqbalance --- */

#define SOCKET "run/irqbalance/irqbalance77.sock"

static int ban(Desk *d, const char *socket, const char *irqs)
{
        ask(d, WRITER_BAN, socket, irqs);
        return go(d);
}

static void bad_bans(void **state)
{
        static const char *const lists[] = {
                "0", "0-3", "1 2", "1,x", "1;reboot", "1-", "NONE", "99999999999"
        };
        static const char *const sockets[] = { IRQ30, "run/dbus/system_bus_socket", "/" SOCKET, "@x", "@" };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                assert_int_equal(ban(d, "", lists[i]), -EINVAL);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
                assert_int_equal(ban(d, sockets[i], "30"), -EOPNOTSUPP);
        }
        assert_int_equal(d->events.n, ARRAY_SIZE(lists) + ARRAY_SIZE(sockets));
        for (size_t i = 0; i < d->events.n; i++)
                assert_int_equal(strncmp(d->events.items[i], "set denied", strlen("set denied")), 0);
        assert_int_equal(d->n_writes, 0);
}

/* What the policy script looks up is there whether irqbalance runs or not. */
static void bans_are_kept_for_the_script(void **state)
{
        Desk *d = *state;
        _cleanup_(freep) char *path = strf("%s/irqs", d->folder);

        assert_int_equal(ban(d, "", "30-31"), 0);
        assert_string_equal(d->reply.value, "");
        assert_int_equal(access(path, R_OK), 0);
        assert_int_equal(ban(d, "", ""), 0);
        assert_int_equal(access(path, R_OK), -1);
}

/* A socket that nobody listens on, one that is none, and one that is not there. */
static void nobody_to_ban(void **state)
{
        Desk *d = *state;
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        assert_int_equal(ban(d, SOCKET, "30"), -ENOENT);
        machine_put(&d->machine, SOCKET, "");
        assert_int_equal(ban(d, SOCKET, "30"), -ECONNREFUSED);
        snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" SOCKET, d->machine.dir);
        assert_int_equal(unlink(sa.sun_path), 0);
        assert_true(fd >= 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
        close(fd);
        assert_int_equal(ban(d, SOCKET, "30"), -ECONNREFUSED);
        /* What was never handed over needs no asking to be taken back. */
        assert_int_equal(ban(d, SOCKET, ""), 0);
}

/* Sets the mask of a workqueue of its own, which is made for that and goes again unless it is to stay. */
static void set_queue(Desk *d, unsigned i, bool stays)
{
        _cleanup_(freep) char *path = strf("sys/devices/virtual/workqueue/iscsi_q_%u/cpumask", 100 + i);
        _cleanup_(freep) char *folder =
                strf("%s/sys/devices/virtual/workqueue/iscsi_q_%u", d->machine.dir, 100 + i);

        machine_put(&d->machine, path, "ff\n");
        assert_int_equal(set(d, path, "30"), 0);
        if (!stays)
                remove_folder(folder);
}

/* Sessions come and go for years: what is gone is forgotten whenever the ledger has grown by 1,024 entries,
 * and nothing that is still there. */
static void ledger_is_tidied(void **state)
{
        Desk *d = *state;
        size_t most = 0;

        d->sink = d->kernel; /* without a look at the ledger in each write */
        assert_int_equal(set(d, IRQ30, "3"), 0);
        for (unsigned i = 0; i < 4000; i++) {
                set_queue(d, i, i % 1000 == 0);
                most = ledger_count(d->ledger) > most ? ledger_count(d->ledger) : most;
        }
        assert_in_range(most, 1024, 1100);
        assert_in_range(ledger_size(d), 1, 1 << 20);
        open_ledger(d);
        assert_int_equal(restore(d, IRQ30), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
        for (unsigned i = 0; i < 4000; i += 1000) {
                _cleanup_(freep) char *path =
                        strf("sys/devices/virtual/workqueue/iscsi_q_%u/cpumask", 100 + i);

                machine_expect(&d->machine, path, "30");
                assert_int_equal(restore(d, path), 0);
                machine_expect(&d->machine, path, "ff");
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(sets_and_restores, setup, teardown),
                cmocka_unit_test_setup_teardown(ledger_comes_first, setup, teardown),
                cmocka_unit_test_setup_teardown(killed_after_the_write, setup, teardown),
                cmocka_unit_test_setup_teardown(killed_before_the_write, setup, teardown),
                cmocka_unit_test_setup_teardown(right_values_are_not_written, setup, teardown),
                cmocka_unit_test_setup_teardown(bad_paths, setup, teardown),
                cmocka_unit_test(good_paths),
                cmocka_unit_test(paths_of_any_depth),
                cmocka_unit_test_setup_teardown(bad_values, setup, teardown),
                cmocka_unit_test_setup_teardown(bad_names, setup, teardown),
                cmocka_unit_test_setup_teardown(bad_bans, setup, teardown),
                cmocka_unit_test_setup_teardown(bans_are_kept_for_the_script, setup, teardown),
                cmocka_unit_test_setup_teardown(nobody_to_ban, setup, teardown),
                cmocka_unit_test_setup_teardown(no_messages, setup, teardown),
                cmocka_unit_test_setup_teardown(refusals_are_kept, setup, teardown),
                cmocka_unit_test_setup_teardown(other_errors_leave_no_trace, setup, teardown),
                cmocka_unit_test_setup_teardown(reused_number, setup, teardown),
                cmocka_unit_test_setup_teardown(number_of_another_device, setup, teardown),
                cmocka_unit_test_setup_teardown(workqueue_of_another_host, setup, teardown),
                cmocka_unit_test_setup_teardown(workqueue_of_another_session, setup, teardown),
                cmocka_unit_test_setup_teardown(object_is_gone_or_another, setup, teardown),
                cmocka_unit_test_setup_teardown(restore_that_fails, setup, teardown),
                cmocka_unit_test_setup_teardown(held_devices, setup, teardown),
                cmocka_unit_test_setup_teardown(lists_the_ledger, setup, teardown),
                cmocka_unit_test_setup_teardown(foreign_entries_are_not_read, setup, teardown),
                cmocka_unit_test_setup_teardown(no_room_no_write, setup, teardown),
                cmocka_unit_test_setup_teardown(links_are_not_followed, setup, teardown),
                cmocka_unit_test_setup_teardown(links_to_folders_are_not_followed, setup, teardown),
                cmocka_unit_test_setup_teardown(first_values_are_checked, setup, teardown),
                cmocka_unit_test_setup_teardown(values_of_any_length, setup, teardown),
                cmocka_unit_test_setup_teardown(no_netlink_on_copies, setup, teardown),
                cmocka_unit_test_setup_teardown(hosts_are_not_denied_unseen, setup, teardown),
                cmocka_unit_test_setup_teardown(serves_a_socket, setup, teardown),
                cmocka_unit_test_setup_teardown(ledger_is_tidied, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

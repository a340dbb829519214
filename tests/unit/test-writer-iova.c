/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standin/standin.h"
#include "tree.h"
#include "writer/writer.h"

/* What the writer takes for an IOMMU group and for disks: only the device's own; and a group's limit that was
 * the default is put back to following it. */

#define HBA    "0000:00:02.0"
#define NVME   "0000:00:03.0"
#define FOLDER "sys/devices/pci0000:00/"
#define LIMIT7 "sys/kernel/iommu_groups/7/iova_depot_max"
#define TYPE7  "sys/kernel/iommu_groups/7/type"
#define SDA    FOLDER HBA "/host1/target1:0:0/1:0:0:0/block/sda/queue/max_sectors_kb"
#define BEHIND FOLDER HBA "/0000:01:00.0/nvme/nvme0/nvme0n1/queue/max_sectors_kb"

typedef struct Desk {
        Machine machine;
        char folder[SCRATCH_MAX];
        Ledger *ledger;
        Standin *standin;
        WriterSink sink;
        Writer *writer;
        WriterReply reply;
} Desk;

static void put_function(const Machine *m, const char *address, const char *group)
{
        _cleanup_(freep) char *link = strf(FOLDER "%s/iommu_group", address);

        tree_put_pci(m, address, "0x010400\n", "0\n", "megaraid_sas");
        tree_link(m, link, group);
}

static int setup(void **state)
{
        Desk *d = calloc(1, sizeof(*d));
        Machine *m = &d->machine;

        tree_init(m);
        tree_put_nodes(m);
        put_function(m, HBA, "sys/kernel/iommu_groups/7");
        put_function(m, NVME, "sys/kernel/iommu_groups/70");
        tree_put(m, "32\n", "sys/module/iova/parameters/depot_max");
        tree_put(m, "32\n", "%s", LIMIT7);
        tree_put(m, "DMA\n", "%s", TYPE7);
        tree_put(m, "512\n", "%s", SDA);
        tree_put(m, "512\n", "%s", BEHIND);
        scratch_make(d->folder, "ledger");
        assert_int_equal(standin_new(m->root, &d->standin), 0);
        d->sink = standin_sink(d->standin);
        assert_int_equal(ledger_open(d->folder, "", &d->ledger, NULL), 0);
        assert_int_equal(writer_new(m->root, d->ledger, &d->sink, &d->writer), 0);
        *state = d;
        return 0;
}

static int teardown(void **state)
{
        Desk *d = *state;

        writer_free(d->writer);
        ledger_free(d->ledger);
        standin_free(d->standin);
        remove_folder(d->folder);
        machine_done(&d->machine);
        free(d);
        return 0;
}

static int on_reply(void *userdata, const WriterReply *reply, int fd)
{
        ((Desk *)userdata)->reply = *reply;
        return 0;
}

static int ask(Desk *d, WriterOp op, WriterKind kind, const char *device, const char *path, const char *value)
{
        WriterRequest *q = calloc(1, sizeof(*q));

        assert_non_null(q);
        q->version = WRITER_PROTOCOL_VERSION;
        q->op = op;
        q->kind = kind;
        snprintf(q->device, sizeof(q->device), "%s", device);
        snprintf(q->id, sizeof(q->id), "%s~knob~role", device);
        snprintf(q->path, sizeof(q->path), "%s", path);
        snprintf(q->value, sizeof(q->value), "%s", value);
        assert_int_equal(writer_handle(d->writer, q, sizeof(*q), on_reply, d), 0);
        free(q);
        return d->reply.error;
}

static void a_group_is_its_devices_alone(void **state)
{
        static const char *const others[] = { "pci:" NVME, "pci:0000:00:04.0", "pci:", "pci:../x",
                                              "iscsi:a:b" };
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, others[i], LIMIT7, "64"), -ENODEV);
                assert_int_equal(ask(d, WRITER_SET, WRITER_IOMMU_TYPE, others[i], TYPE7, "DMA-FQ"), -ENODEV);
        }
        machine_expect(&d->machine, LIMIT7, "32");
        machine_expect(&d->machine, TYPE7, "DMA");
        assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, "pci:" HBA, LIMIT7, "64"), 0);
        assert_int_equal(ask(d, WRITER_SET, WRITER_IOMMU_TYPE, "pci:" HBA, TYPE7, "DMA-FQ"), 0);
        machine_expect(&d->machine, LIMIT7, "64");
        machine_expect(&d->machine, TYPE7, "DMA-FQ");
}

static void a_disk_is_the_devices_that_it_lies_below(void **state)
{
        Desk *d = *state;

        assert_int_equal(ask(d, WRITER_SET, WRITER_BLOCK_MAX_SECTORS, "pci:" NVME, SDA, "128"), -ENODEV);
        assert_int_equal(ask(d, WRITER_SET, WRITER_BLOCK_MAX_SECTORS, "pci:0000:00:02.1", SDA, "128"),
                         -ENODEV);
        /* That function is a bridge for this disk. */
        assert_int_equal(ask(d, WRITER_SET, WRITER_BLOCK_MAX_SECTORS, "pci:" HBA, BEHIND, "128"), -ENODEV);
        machine_expect(&d->machine, SDA, "512");
        machine_expect(&d->machine, BEHIND, "512");
        assert_int_equal(ask(d, WRITER_SET, WRITER_BLOCK_MAX_SECTORS, "pci:" HBA, SDA, "128"), 0);
        machine_expect(&d->machine, SDA, "128");
        assert_int_equal(ask(d, WRITER_RESTORE, 0, "pci:" HBA, SDA, ""), 0);
        machine_expect(&d->machine, SDA, "512");
}

static void a_group_without_a_limit_of_its_own_follows_the_default_again(void **state)
{
        Desk *d = *state;

        assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, "pci:" HBA, LIMIT7, "64"), 0);
        assert_string_equal(d->reply.first, "default");
        assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, "pci:" HBA, LIMIT7, "128"), 0);
        assert_string_equal(d->reply.first, "default");
        assert_int_equal(ask(d, WRITER_RESTORE, 0, "pci:" HBA, LIMIT7, ""), 0);
        machine_expect(&d->machine, LIMIT7, "32"); /* the stand-in answers as the kernel does */
        assert_int_equal(ledger_count(d->ledger), 0);
}

static void a_limit_of_its_own_comes_back(void **state)
{
        Desk *d = *state;

        machine_put(&d->machine, LIMIT7, "16\n");
        assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, "pci:" HBA, LIMIT7, "64"), 0);
        assert_string_equal(d->reply.first, "16");
        assert_int_equal(ask(d, WRITER_RESTORE, 0, "pci:" HBA, LIMIT7, ""), 0);
        machine_expect(&d->machine, LIMIT7, "16");
}

/* A kernel whose file says so itself. */
static void a_file_that_reads_default_is_put_back_so(void **state)
{
        Desk *d = *state;

        machine_put(&d->machine, LIMIT7, "default (32)\n");
        assert_int_equal(ask(d, WRITER_SET, WRITER_IOVA_DEPOT, "pci:" HBA, LIMIT7, "64"), 0);
        assert_string_equal(d->reply.first, "default");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_group_is_its_devices_alone, setup, teardown),
                cmocka_unit_test_setup_teardown(a_disk_is_the_devices_that_it_lies_below, setup, teardown),
                cmocka_unit_test_setup_teardown(a_group_without_a_limit_of_its_own_follows_the_default_again,
                                                setup, teardown),
                cmocka_unit_test_setup_teardown(a_limit_of_its_own_comes_back, setup, teardown),
                cmocka_unit_test_setup_teardown(a_file_that_reads_default_is_put_back_so, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

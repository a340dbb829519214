/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "drift-events.h"
#include "drift.h"
#include "test.h"

#include <string.h>

#define HBA   "pci:0000:21:00.0"
#define NIC   "pci:0000:22:00.0"
#define ISCSI "iscsi:default:iqn.x"

static void add_device(Snapshot *s, const char *id, const char *path, const char *netdev)
{
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);

        *d = (Device) { .id = strdup(id), .driver = strdup("driver"), .path = strdup(path) };
        if (netdev)
                assert_int_equal(strv_add(&d->netdevs, netdev), 0);
}

static Snapshot *machine(void)
{
        Snapshot *s = snapshot_new();

        add_device(s, HBA, "sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0", NULL);
        add_device(s, NIC, "sys/devices/pci0000:20/0000:20:01.0/0000:22:00.0", "ens1");
        add_device(s, ISCSI, "sys/devices/platform/host4", NULL);
        return s;
}

#define PCI(path) "/sys/devices/pci0000:20" path

static const struct {
        MonitorEvent event;
        bool hba, nic, iscsi;
} rows[] = {
        /* CPUs and lost events concern all. */
        { { "udev", "cpu", "offline", "/sys/devices/system/cpu/cpu3", false }, true, true, true },
        { { "udev", "node", "add", "/sys/devices/system/node/node1", false }, true, true, true },
        { { "rtnetlink", "", "", "", true }, true, true, true },
        { { "udev", "", "", "", true }, true, true, true },
        /* A function, what is in it, and the bridge above it. */
        { { "udev", "pci", "bind", PCI("/0000:20:00.0/0000:21:00.0"), false }, true, false, false },
        { { "udev", "scsi_host", "add", PCI("/0000:20:00.0/0000:21:00.0/host1/scsi_host/host1"), false },
          true,
          false,
          false },
        { { "udev", "net", "add", PCI("/0000:20:01.0/0000:22:00.0/virtio1/net/ens1"), false },
          false,
          true,
          false },
        { { "udev", "pci", "remove", PCI("/0000:20:01.0"), false }, false, true, false },
        { { "udev", "pci", "change", PCI(""), false }, true, true, false },
        { { "udev", "pci", "add", PCI("/0000:20:00.0/0000:21:00.00"), false }, false, false, false },
        { { "udev", "pci", "add", PCI("/0000:20:02.0/0000:23:00.0"), false }, false, false, false },
        /* Links, channels and rings, by name. */
        { { "rtnetlink", "link", "up", "ens1", false }, false, true, false },
        { { "rtnetlink", "link", "change", "ens1", false }, false, true, false },
        { { "ethtool", "channels", "change", "ens1", false }, false, true, false },
        { { "ethtool", "rings", "change", "ens1", false }, false, true, false },
        { { "rtnetlink", "link", "up", "bond0", false }, false, false, false },
        { { "rtnetlink", "link", "up", "", false }, false, false, false },
        /* These change what is planned, and no mask. */
        { { "rtnetlink", "addr", "add", "ens1", false }, false, false, false },
        { { "rtnetlink", "route", "add", "ens1", false }, false, false, false },
        { { "rtnetlink", "rule", "add", "", false }, false, false, false },
        { { "iscsi", "iscsi_session", "add", "", false }, false, false, false },
        { { "udev", "iscsi_session", "add", "/sys/devices/platform/host4/session1/iscsi_session/session1",
            false },
          false,
          false,
          false },
        { { "udev", "block", "add", PCI("/0000:20:00.0/0000:21:00.0/host1/target1:0:0/1:0:0:0/block/sda"),
            false },
          false,
          false,
          false },
        { { "udev", "workqueue", "add", "/sys/devices/virtual/workqueue/iscsi_q_4", false },
          false,
          false,
          false },
        { { "udev", NULL, NULL, NULL, false }, false, false, false },
};

static void devices_of_events(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(drift_events_clear) DriftEvents e = { 0 };

                print_message("%zu: %s %s\n", i, rows[i].event.source, rows[i].event.object);
                drift_events_add(&e, s, &rows[i].event, 7);
                assert_int_equal(drift_events_last(&e, HBA), rows[i].hba ? 7 : 0);
                assert_int_equal(drift_events_last(&e, NIC), rows[i].nic ? 7 : 0);
                assert_int_equal(drift_events_last(&e, ISCSI), rows[i].iscsi ? 7 : 0);
        }
}

static void last_one_counts(void **state)
{
        static const MonitorEvent link = { "rtnetlink", "link", "up", "ens1", false },
                                  cpu = { "udev", "cpu", "online", "/sys/devices/system/cpu/cpu3", false };
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(drift_events_clear) DriftEvents e = { 0 };

        drift_events_add(&e, NULL, &link, 1); /* nobody knows yet whose it is */
        assert_int_equal(drift_events_last(&e, NIC), 0);
        drift_events_add(&e, s, &link, 2);
        drift_events_add(&e, s, &cpu, 3);
        assert_int_equal(drift_events_last(&e, NIC), 3);
        drift_events_add(&e, s, &link, 4);
        assert_int_equal(drift_events_last(&e, NIC), 4);
        assert_int_equal(drift_events_last(&e, HBA), 3);
        assert_int_equal(e.n, 1);
}

static void old_ones_are_dropped(void **state)
{
        static const MonitorEvent nic = { "rtnetlink", "link", "up", "ens1", false },
                                  hba = { "udev", "pci", "bind", PCI("/0000:20:00.0/0000:21:00.0"), false };
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(drift_events_clear) DriftEvents e = { 0 };

        drift_events_add(&e, s, &nic, DRIFT_SECOND);
        drift_events_add(&e, s, &hba, 100 * DRIFT_SECOND);
        assert_int_equal(e.n, 1);
        assert_int_equal(drift_events_last(&e, NIC), 0);
        assert_int_equal(drift_events_last(&e, HBA), 100 * DRIFT_SECOND);
}

static void sleep_concerns_all(void **state)
{
        _cleanup_(drift_events_clear) DriftEvents e = { 0 };

        drift_events_add_sleep(&e, 40 * DRIFT_SECOND, 1); /* before this process began */
        drift_events_add_sleep(&e, 40 * DRIFT_SECOND + 3, 2);
        assert_int_equal(drift_events_last(&e, HBA), 0);
        drift_events_add_sleep(&e, 50 * DRIFT_SECOND, 3);
        assert_int_equal(drift_events_last(&e, HBA), 3);
        drift_events_add_sleep(&e, 50 * DRIFT_SECOND, 4);
        assert_int_equal(drift_events_last(&e, HBA), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(devices_of_events),
                cmocka_unit_test(last_one_counts),
                cmocka_unit_test(old_ones_are_dropped),
                cmocka_unit_test(sleep_concerns_all),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

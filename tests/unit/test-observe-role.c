/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "observe/role.h"
#include "test.h"

#include <string.h>

typedef struct Want {
        const char *driver, *action;
        VectorRole role;
        int queue;
        bool bare;
        const char *slow;
} Want;

static void names_tell_roles(void **state)
{
        static const Want wants[] = {
                { "nvme", "nvme12q0", VECTOR_SLOW, -1, false, "admin" },
                { "nvme", "nvme12q130", VECTOR_QUEUE, 130, false, "" },
                { "nvme", "nvme0q0, nvme0q1", VECTOR_QUEUE, 1, false, "" },
                { "virtio_scsi", "virtio3-request", VECTOR_QUEUE, -1, false, "" },
                { "virtio_scsi", "virtio3-control", VECTOR_SLOW, -1, false, "control" },
                { "virtio_net", "virtio4-output.3", VECTOR_TX, 3, false, "" },
                { "virtio_net", "virtio4-virtqueues", VECTOR_QUEUE, -1, false, "" },
                { "hisi_sas_v3_hw", "hisi_sas_v3_hw cq", VECTOR_QUEUE, -1, false, "" },
                { "hisi_sas_v3_hw", "hisi_sas_v3_hw fatal", VECTOR_SLOW, -1, false, "fatal" },
                { "qla2xxx", "qla2xxx (rsp_q)", VECTOR_QUEUE, -1, false, "" },
                { "qla2xxx", "qla2xxx3_qpair7", VECTOR_QUEUE, 7, false, "" },
                { "qla2xxx", "qla2xxx3_default", VECTOR_SLOW, -1, false, "default" },
                { "lpfc", "lpfc:17", VECTOR_QUEUE, 17, false, "" },
                { "pm80xx", "pm80xx0-5", VECTOR_QUEUE, 5, false, "" },
                { "be2iscsi", "beiscsi_mcc_05", VECTOR_SLOW, -1, false, "mcc" },
                { "aacraid", "aacraid", VECTOR_SLOW, -1, true, "misc" },
                { "i40e", "i40e-0000:19:00.0:fdir-TxRx-0", VECTOR_SLOW, -1, false, "fdir" },
                { "i40e", "i40e-eno1-TxRx-79", VECTOR_QUEUE, 79, false, "" },
                { "ice", "ice-0000:4b:00.0:ctrl-TxRx-0", VECTOR_SLOW, -1, false, "ctrl" },
                { "ice", "irdma-0000:4b:00.0-AEQCEQ-0", VECTOR_QUEUE, 0, false, "" },
                { "mlx5_core", "mlx5_async63@pci:0000:03:00.0", VECTOR_SLOW, -1, false, "async63" },
                { "mlx5_core", "mlx5_comp63@pci:0000:03:00.0", VECTOR_QUEUE, 63, false, "" },
                { "mlx5_core", "eth1--1", VECTOR_SLOW, -1, true, "misc" },
                { "hns3", "hclge-misc-0000:02:00.0", VECTOR_SLOW, -1, false, "misc" },
                { "ena", "eth0-Tx-Rx-3", VECTOR_QUEUE, 3, false, "" },
                { "bnx2x", "eth0-fp-4", VECTOR_QUEUE, 4, false, "" },
                { "cxgb4", "eth4 (queue 2)", VECTOR_QUEUE, 2, false, "" },
                { "be2net", "eth4-q11", VECTOR_QUEUE, 11, false, "" },
                { "hinic", "hinic_ceq1@pci:0000:01:00.0", VECTOR_SLOW, -1, false, "ceq" },
                { "hinic", "eth4_rxq3", VECTOR_RX, 3, false, "" },
                { "vmxnet3", "enp66s0-event-8", VECTOR_SLOW, -1, false, "event-8" },
                { "stmmac", "eth0:tx-1", VECTOR_TX, 1, false, "" },
                { "new-driver", "eth0-rx-2", VECTOR_RX, 2, false, "" },
                { "new-driver", "eth0-99999999999", VECTOR_SLOW, -1, true, "misc" },
                { "new-driver", "", VECTOR_SLOW, -1, true, "misc" },
                { "new-driver", "-", VECTOR_SLOW, -1, true, "misc" },
                { "new-driver", "0000:01:00.0", VECTOR_SLOW, -1, true, "misc" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
                const Want *w = &wants[i];
                VectorName name = { 0 };

                vector_name_parse(w->driver, w->action, NULL, &name);
                if (name.role != w->role || name.queue != w->queue || name.bare != w->bare ||
                    strcmp(name.slow, w->slow) != 0)
                        fail_msg("%s of %s: role %d, queue %d, bare %d, name \"%s\"", w->action, w->driver,
                                 name.role, name.queue, name.bare, name.slow);
        }
}

/* Words in a netdev's own name mean nothing. */
static void netdev_names_are_taken_out(void **state)
{
        char *names[] = { (char *)"mgmt0", (char *)"rx-9", (char *)"admin" };
        const Strv netdevs = { names, 3 };
        VectorName name;

        vector_name_parse("ixgbe", "mgmt0-TxRx-4", &netdevs, &name);
        assert_int_equal(name.role, VECTOR_QUEUE);
        assert_int_equal(name.queue, 4);
        vector_name_parse("ixgbe", "rx-9", &netdevs, &name);
        assert_true(name.bare);
        vector_name_parse("iavf", "iavf-admin-TxRx-1", &netdevs, &name);
        assert_int_equal(name.role, VECTOR_QUEUE);
        vector_name_parse("ixgbe", "administrator-TxRx-2", &netdevs, &name);
        assert_int_equal(name.role, VECTOR_QUEUE);
}

/* A device with vectors of these actions, IRQs from 100 on; names them and checks the keys. */
static void check_keys(const char *driver, size_t n_all, const char *const *actions, const char *const *keys,
                       size_t n)
{
        Device d = { .driver = (char *)driver };

        for (size_t i = 0; i < n; i++) {
                Vector *v = ARRAY_APPEND(d.vectors, d.n_vectors);

                assert_non_null(v);
                v->irq = 100 + (unsigned)i;
                v->action = strdup(actions[i]);
        }
        assert_int_equal(vectors_name(&d, n_all), 0);
        for (size_t i = 0; i < n; i++)
                assert_string_equal(d.vectors[i].key, keys[i]);
        d.driver = NULL;
        device_clear(&d);
}

#define CHECK_KEYS(driver, n_all, actions, keys) \
        check_keys(driver, n_all, actions, keys, sizeof(actions) / sizeof((actions)[0]))

static void equal_names_are_numbered_by_order(void **state)
{
        const char *const actions[] = { "aacraid", "aacraid", "aacraid" };
        const char *const keys[] = { "q0", "q1", "q2" };
        const char *const scsi[] = { "virtio3-config", "virtio3-control", "virtio3-event", "virtio3-request",
                                     "virtio3-request" };
        const char *const scsi_keys[] = { "slow-config", "slow-control", "slow-event", "q0", "q1" };
        const char *const hisi[] = { "hisi_sas_v3_hw phy", "hisi_sas_v3_hw channel", "hisi_sas_v3_hw fatal",
                                     "hisi_sas_v3_hw cq", "hisi_sas_v3_hw cq" };
        const char *const hisi_keys[] = { "slow-phy", "slow-channel", "slow-fatal", "q0", "q1" };

        CHECK_KEYS("aacraid", 3, actions, keys);
        CHECK_KEYS("virtio_scsi", 5, scsi, scsi_keys);
        CHECK_KEYS("hisi_sas_v3_hw", 32, hisi, hisi_keys);
}

static void the_only_vector_is_queue_0(void **state)
{
        const char *const ahci[] = { "ahci[0000:00:17.0]" }, *const bare[] = { "eth0" };
        const char *const slow[] = { "i40e-0000:19:00.0:misc" }, *const shared[] = { "virtio3, virtio0" };
        const char *const queue[] = { "q0" }, *const misc[] = { "slow-misc" };

        CHECK_KEYS("ahci", 1, ahci, queue);
        CHECK_KEYS("e1000e", 1, bare, queue);
        CHECK_KEYS("virtio_net", 1, shared, queue);
        CHECK_KEYS("mlx4_core", 1, slow, queue);
        CHECK_KEYS("i40e", 82, slow, misc); /* the others are not requested: the interface is down */
}

static void bare_names_beside_queues_are_slow_path(void **state)
{
        const char *const ixgbe[] = { "eno1-TxRx-0", "eno1-TxRx-1", "eno1" };
        const char *const ixgbe_keys[] = { "q0", "q1", "slow-misc" };
        const char *const strange[] = { "foo", "bar" };
        const char *const strange_keys[] = { "q0", "q1" };

        CHECK_KEYS("ixgbe", 3, ixgbe, ixgbe_keys);
        CHECK_KEYS("new-driver", 2, strange, strange_keys);
}

static void keys_are_unique(void **state)
{
        const char *const actions[] = { "ice-0000:4b:00.0:misc",
                                        "ice-eth0-TxRx-0",
                                        "irdma-0000:4b:00.0-CEQ-0",
                                        "eth0-rx-0",
                                        "eth0-tx-0",
                                        "eth0-tx-0" };
        const char *const keys[] = { "slow-misc", "q0", "q0#2", "rx0", "tx0", "tx0#2" };

        CHECK_KEYS("ice", 6, actions, keys);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_tell_roles),
                cmocka_unit_test(netdev_names_are_taken_out),
                cmocka_unit_test(equal_names_are_numbered_by_order),
                cmocka_unit_test(the_only_vector_is_queue_0),
                cmocka_unit_test(bare_names_beside_queues_are_slow_path),
                cmocka_unit_test(keys_are_unique),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

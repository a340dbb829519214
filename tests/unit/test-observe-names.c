/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/address.h"
#include "observe/names.h"
#include "test.h"

#include <errno.h>

static void numbers_follow_a_prefix(void **state)
{
        unsigned n = 77;

        assert_true(name_number("host12", "host", &n));
        assert_int_equal(n, 12);
        assert_true(name_number("node0", "node", NULL));
        assert_false(name_number("host", "host", &n));
        assert_false(name_number("host1a", "host", &n));
        assert_false(name_number("host 1", "host", &n));
        assert_false(name_number("cpufreq", "cpu", &n));
        assert_int_equal(n, 12);
}

static void pci_addresses_are_read(void **state)
{
        uint64_t a = 0, b = 0;

        assert_int_equal(pci_address("0000:21:00.0", &a), 12);
        assert_int_equal(a, 0x2100);
        assert_int_equal(pci_address("10000:00:04.7/x", &b), 13);
        assert_int_equal(b, 0x10000ull << 16 | 4 << 3 | 7);
        assert_int_equal(pci_address("0000:B4:1f.2", &a), 12);
        assert_int_equal(a, 0xb400 | 0x1f << 3 | 2);
        assert_int_equal(pci_address("0000:21:00", NULL), 0);
        assert_int_equal(pci_address("000:21:00.0", NULL), 0);
        assert_int_equal(pci_address("0000:21:20.0", NULL), 0); /* there are 32 devices */
        assert_int_equal(pci_address("0000:21:00.8", NULL), 0); /* and eight functions */
        assert_int_equal(pci_address("0:0:0:0", NULL), 0);
        assert_int_equal(pci_address("", NULL), 0);
}

static void the_nearest_function_owns_a_path(void **state)
{
        char pci[PCI_ADDRESS_SIZE];

        assert_true(pci_of_path("sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/host0/x", pci));
        assert_string_equal(pci, "0000:01:00.0");
        assert_true(pci_of_path("sys/devices/pci0000:d0/0000:d0:05.5/pci10000:00/10000:00:02.0/10000:01:00.0",
                                pci));
        assert_string_equal(pci, "10000:01:00.0");
        assert_true(pci_of_path("sys/devices/ffffffff:ff:1f.7", pci));
        assert_string_equal(pci, "ffffffff:ff:1f.7");
        assert_false(pci_of_path("sys/devices/platform/host8/session1/target8:0:0/8:0:0:0", pci));
}

static void numbers_are_found_in_paths(void **state)
{
        assert_int_equal(path_number("sys/devices/platform/host8/session1", "host"), 8);
        assert_int_equal(path_number("sys/devices/platform/host8/session1", "session"), 1);
        assert_int_equal(path_number("sys/devices/ghost8", "host"), -1);
}

static void addresses_compare_by_value(void **state)
{
        Address a, b;
        unsigned port = 0;

        assert_int_equal(address_parse("fe80::1", &a), 0);
        assert_int_equal(address_parse("[fe80:0:0::1]", &b), 0);
        assert_true(address_equal(&a, &b));
        assert_int_equal(address_parse("10.9.0.300", &a), -EINVAL);
        assert_int_equal(address_parse("", &a), -EINVAL);
        assert_int_equal(endpoint_parse("10.9.0.1:3260", &a, &port), 0);
        assert_int_equal(port, 3260);
        assert_int_equal(endpoint_parse("[2001:db8::2]:40000", &b, &port), 0);
        assert_int_equal(port, 40000);
        assert_false(address_equal(&a, &b));
        assert_int_equal(endpoint_parse("10.9.0.1", &a, &port), -EINVAL);
        assert_int_equal(endpoint_parse("10.9.0.1:65536", &a, &port), -EINVAL);
}

static void prefixes_hold_addresses(void **state)
{
        Address a, net, other;

        assert_int_equal(address_parse("10.9.129.7", &a), 0);
        assert_int_equal(address_parse("10.9.128.0", &net), 0);
        assert_int_equal(address_parse("::", &other), 0);
        assert_true(address_in_prefix(&a, &net, 17));
        assert_false(address_in_prefix(&a, &net, 24));
        assert_true(address_in_prefix(&a, &net, 0));
        assert_false(address_in_prefix(&a, &net, 33));
        assert_false(address_in_prefix(&a, &other, 0));
}

static void endpoints_are_written_with_brackets(void **state)
{
        _cleanup_(freep) char *v4 = endpoint_format("10.9.0.1", 3260), *v6 = endpoint_format("fe80::1", 1);

        assert_string_equal(v4, "10.9.0.1:3260");
        assert_string_equal(v6, "[fe80::1]:1");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(numbers_follow_a_prefix),
                cmocka_unit_test(pci_addresses_are_read),
                cmocka_unit_test(the_nearest_function_owns_a_path),
                cmocka_unit_test(numbers_are_found_in_paths),
                cmocka_unit_test(addresses_compare_by_value),
                cmocka_unit_test(prefixes_hold_addresses),
                cmocka_unit_test(endpoints_are_written_with_brackets),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/address-map.h"
#include "ctl/anonymise.h"
#include "ctl/filter.h"
#include "test.h"

#include "basic/strv.h"

#include <arpa/inet.h>
#include <string.h>

/* ---- tokens ---- */

static void tokens_are_recognised(void **state)
{
        static const struct {
                const char *text;
                size_t at;
                int kind; /* -1 = none */
                size_t skip, length;
        } cases[] = {
                { "52:54:00:12:34:56", 0, TOKEN_MAC, 0, 17 },
                { "52-54-00-12-34-56", 0, TOKEN_MAC, 0, 17 },
                { "52:54:00:12:34:56:78:9a\n", 0, TOKEN_MAC, 0, 23 },
                { "be2iscsi.52:54:00:AB:34:56.ipv4.0", 9, TOKEN_MAC, 0, 17 },
                { "enx525400123456", 0, TOKEN_MAC, 3, 12 },
                { "enx52540012345", 0, -1, 0, 0 },
                { "enx5254001234567", 0, -1, 0, 0 },
                { "00:00:00:00:00:00", 0, -1, 0, 0 },
                { "ff:ff:ff:ff:ff:ff", 0, -1, 0, 0 },
                { "52:54:00:12:34", 0, -1, 0, 0 },
                { "52:54:00:12:34:567", 0, -1, 0, 0 },
                { "10.9.0.1", 0, TOKEN_IPV4, 0, 8 },
                { "10.9.0.1:3260", 0, TOKEN_IPV4, 0, 8 },
                { "10.9.0.1. And", 0, TOKEN_IPV4, 0, 8 },
                { "127.0.0.1", 0, -1, 0, 0 },
                { "255.255.255.0", 0, -1, 0, 0 },
                { "10.9.0.256", 0, -1, 0, 0 },
                { "6.1.0-13", 0, -1, 0, 0 },
                { "1.10.9.0.1", 2, -1, 0, 0 },
                { "fe80::1%eth0", 0, TOKEN_IPV6, 0, 7 },
                { "[2001:DB8::17]:3260", 1, TOKEN_IPV6, 0, 12 },
                { "::ffff:10.9.0.1", 0, TOKEN_IPV6, 0, 15 },
                { "2001:db8:0:0:0:0:0:1/64", 0, TOKEN_IPV6, 0, 20 },
                { "::1", 0, -1, 0, 0 },
                { "::", 0, -1, 0, 0 },
                { "0000:21:00.0", 0, -1, 0, 0 },
                { "0000:21:00.0", 5, -1, 0, 0 },
                { "2:0:0:0", 0, -1, 0, 0 },
                { "00000000,000000ff", 0, -1, 0, 0 },
                { "0-3,8-11", 0, -1, 0, 0 },
                { "12:34:56", 0, -1, 0, 0 },
                { "IQN.2024-01.org.x:a.b-c_d:1 ", 0, TOKEN_IQN, 0, 27 },
                { "default:iqn.2024-01.x:t1/session", 8, TOKEN_IQN, 0, 16 },
                { "iqn.2024-01.x:t1,i,0x00", 0, TOKEN_IQN, 0, 16 },
                { "nqn.2014-08.org.nvmexpress:uuid:x\"", 0, TOKEN_IQN, 0, 33 },
                { "iqn. ", 0, -1, 0, 0 },
                { "eui.0025385b71b0a0ff", 0, TOKEN_WWN, 4, 16 },
                { "naa.60060160a6b0380042a3fa5b6d8de611", 0, TOKEN_WWN, 4, 32 },
                { "eui.00253", 0, -1, 0, 0 },
                { "4c4c4544-0031-3510-8051-b9c04f4d3332", 0, TOKEN_UUID, 0, 36 },
                { "4c4c4544-0031-3510-8051-b9c04f4d33321", 0, -1, 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                Token t = { 0 };
                bool found = token_at(cases[i].text, strlen(cases[i].text), cases[i].at, &t);

                if (found != (cases[i].kind >= 0))
                        fail_msg("%s: %s", cases[i].text, found ? "taken for a token" : "no token");
                if (!found)
                        continue;
                assert_int_equal(t.kind, cases[i].kind);
                assert_int_equal(t.skip, cases[i].skip);
                assert_int_equal(t.length, cases[i].length);
        }
}

/* ---- addresses ---- */

static Address parse(const char *text)
{
        Address a = { 0 };

        assert_int_equal(address_parse(text, &a), 0);
        return a;
}

static unsigned common_bits(const Address *a, const Address *b)
{
        unsigned n = 0;

        while (n < address_bits(a) && address_in_prefix(a, b, n + 1))
                n++;
        return n;
}

static void addresses_share_as_many_bits_as_before(void **state)
{
        static const char *const texts[] = {
                "10.9.0.1",
                "10.9.0.2",
                "10.9.1.1",
                "10.200.0.1",
                "192.168.0.1",
                "192.168.77.3",
                "172.16.5.4",
                "172.20.1.1",
                "172.200.1.1",
                "169.254.1.2",
                "8.8.8.8",
                "8.8.4.4",
                "2001:db8::1",
                "2001:db8::2",
                "2001:db8:1::1",
                "fd00::1",
                "fd00:1::1",
                "fe80::1",
                "fe80::5054:ff:fe12:3456",
        };
        _cleanup_(address_map_freep) AddressMap *m = address_map_new();
        Address from[ARRAY_SIZE(texts)], to[ARRAY_SIZE(texts)];
        size_t same = 0;

        assert_non_null(m);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                from[i] = parse(texts[i]);
                assert_int_equal(address_map(m, &from[i], 128, &to[i]), 0);
                same += address_equal(&from[i], &to[i]);
        }
        assert_in_range(same, 0, 2); /* by chance */
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                for (size_t j = 0; j < ARRAY_SIZE(texts); j++)
                        if (from[i].family == from[j].family)
                                assert_int_equal(common_bits(&from[i], &from[j]),
                                                 common_bits(&to[i], &to[j]));
}

static void kinds_of_addresses_stay(void **state)
{
        static const struct {
                const char *text;
                unsigned bits;
        } kept[] = {
                { "10.9.0.1", 8 },
                { "172.16.5.4", 12 },
                { "192.168.0.1", 16 },
                { "169.254.1.2", 16 },
                { "100.64.3.2", 10 },
                { "8.8.8.8", 8 },
                { "127.0.0.1", 32 },
                { "0.0.0.0", 32 },
                { "::1", 128 },
                { "::", 128 },
                { "fe80::17", 64 },
                { "fd00::1", 8 },
                { "ff02::1:ff12:3456", 16 },
                { "::ffff:10.9.0.1", 104 },
        };
        _cleanup_(address_map_freep) AddressMap *m = address_map_new();

        for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                Address from = parse(kept[i].text), to;

                assert_int_equal(address_map(m, &from, 128, &to), 0);
                assert_true(common_bits(&from, &to) >= kept[i].bits);
        }
}

static void prefixes_stay_prefixes(void **state)
{
        _cleanup_(address_map_freep) AddressMap *m = address_map_new();
        Address net = parse("10.9.8.0"), host = parse("10.9.8.7"), net_to, host_to;

        assert_int_equal(address_map(m, &net, 24, &net_to), 0);
        assert_int_equal(address_map(m, &host, 32, &host_to), 0);
        assert_int_equal(net_to.bytes[3], 0);
        assert_true(address_in_prefix(&host_to, &net_to, 24));
        net = parse("2001:db8:5::");
        host = parse("2001:db8:5::1234");
        assert_int_equal(address_map(m, &net, 48, &net_to), 0);
        assert_int_equal(address_map(m, &host, 128, &host_to), 0);
        assert_true(address_in_prefix(&host_to, &net_to, 48));
        for (size_t i = 6; i < 16; i++)
                assert_int_equal(net_to.bytes[i], 0);
        /* An address with a prefix behind it is still a host. */
        host = parse("10.9.8.7");
        assert_int_equal(address_map(m, &host, 32, &net_to), 0);
        assert_int_equal(address_map(m, &host, 24, &host_to), 0);
        assert_true(address_equal(&host_to, &net_to));
}

/* ---- the whole ---- */

/* Learns texts, and replaces one. */
static char *replaced(Anonymiser *a, const char *text)
{
        char *out = NULL;
        size_t n = 0;

        assert_int_equal(anonymiser_replace(a, text, strlen(text), &out, &n), 0);
        assert_int_equal(strlen(out), n);
        assert_null(anonymiser_find(a, out, n));
        return out;
}

static Anonymiser *learned(const char *const *texts, size_t n)
{
        Anonymiser *a = anonymiser_new();

        assert_non_null(a);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(anonymiser_learn(a, texts[i], strlen(texts[i])), 0);
        return a;
}

#define LEARNED(...)                                                 \
        ({                                                           \
                static const char *const _texts[] = { __VA_ARGS__ }; \
                learned(_texts, sizeof(_texts) / sizeof(_texts[0])); \
        })

static void one_mac_is_one_in_all_forms(void **state)
{
        _cleanup_(anonymiser_freep) Anonymiser *a =
                LEARNED("52:54:00:ab:cd:ef", "52-54-00-AB-CD-EF", "enx525400abcdef", "52:54:00:ab:cd:ee");
        _cleanup_(freep) char *colons = NULL, *dashes = NULL, *name = NULL, *bare = NULL, *other = NULL;
        size_t n = 0;

        assert_int_equal(anonymiser_choose(a), 0);
        assert_int_equal(anonymiser_count(a, SECRET_MAC), 0);
        colons = replaced(a, "52:54:00:AB:cd:ef");
        dashes = replaced(a, "52-54-00-AB-CD-EF");
        name = replaced(a, "sys/class/net/enx525400abcdef/mtu");
        bare = replaced(a, "id=525400ABCDEF;");
        assert_int_equal(anonymiser_count(a, SECRET_MAC), 1);
        other = replaced(a, "52:54:00:ab:cd:ee");
        assert_int_equal(anonymiser_count(a, SECRET_MAC), 2);
        assert_int_equal(strncmp(colons, "02:", 3), 0);
        assert_int_equal(strlen(colons), 17);
        assert_string_not_equal(colons, other);
        for (size_t i = 0; i < 17; i += 3) {
                assert_int_equal(strncmp(colons + i, dashes + i, 2), 0);
                assert_int_equal(strncmp(colons + i, name + strlen("sys/class/net/enx") + n, 2), 0);
                assert_int_equal(strncmp(colons + i, bare + strlen("id=") + n, 2), 0);
                n += 2;
        }
        assert_int_equal(dashes[2], '-');
        assert_string_equal(name + strlen("sys/class/net/enx") + 12, "/mtu");
}

static void iqns_keep_their_order(void **state)
{
        static const char *const iqns[] = { "iqn.2024-01.org.x:t2", "iqn.2024-01.org.x:t10",
                                            "iqn.2024-01.org.x:t9", "iqn.2010-10.org.openstack:volume-a1",
                                            "iqn.1991-05.com.microsoft:host" };
        _cleanup_(anonymiser_freep) Anonymiser *a = learned(iqns, ARRAY_SIZE(iqns));
        char *out[ARRAY_SIZE(iqns)];

        assert_int_equal(anonymiser_choose(a), 0);
        for (size_t i = 0; i < ARRAY_SIZE(iqns); i++) {
                _cleanup_(freep) char *id = strf("iscsi:default:%s", iqns[i]);

                out[i] = replaced(a, id);
                assert_int_equal(strncmp(out[i], "iscsi:default:iqn.", 18), 0);
                assert_null(strstr(out[i], "org"));
                assert_null(strstr(out[i], "2024"));
        }
        for (size_t i = 0; i < ARRAY_SIZE(iqns); i++)
                for (size_t j = 0; j < ARRAY_SIZE(iqns); j++)
                        assert_int_equal(natural_compare(iqns[i], iqns[j]) < 0,
                                         natural_compare(out[i], out[j]) < 0);
        for (size_t i = 0; i < ARRAY_SIZE(iqns); i++)
                free(out[i]);
}

static void names_with_macs_keep_their_order(void **state)
{
        static const char *const names[] = { "enx00e04c680001", "enx00e04c680012", "enxa0cec8123456",
                                             "enx525400999999" };
        _cleanup_(anonymiser_freep) Anonymiser *a = learned(names, ARRAY_SIZE(names));

        assert_int_equal(anonymiser_choose(a), 0);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
                        _cleanup_(freep) char *x = replaced(a, names[i]), *y = replaced(a, names[j]);

                        assert_int_equal(natural_compare(names[i], names[j]) < 0, natural_compare(x, y) < 0);
                        assert_int_equal(strlen(x), 15);
                }
}

static void addresses_are_replaced_in_place(void **state)
{
        static const char text[] =
                "{\"dst\": \"10.9.0.0/24\", \"src\": \"10.9.0.17\", \"via\": \"[FE80::17%eth0]:3260\", "
                "\"peer\": \"10.9.0.17:3260\", \"lo\": \"127.0.0.1\", \"any\": \"::/0\", \"private\": "
                "\"10.0.0.0/8\"}";
        _cleanup_(anonymiser_freep) Anonymiser *a = LEARNED(text);
        char net[16], src[16], via[40], peer[16];
        _cleanup_(freep) char *out = NULL;
        Address one, two;

        assert_int_equal(anonymiser_choose(a), 0);
        out = replaced(a, text);
        assert_int_equal(
                sscanf(out,
                       "{\"dst\": \"%15[0-9.]/24\", \"src\": \"%15[0-9.]\", \"via\": \"[%39[0-9a-f:]"
                       "%%eth0]:3260\", \"peer\": \"%15[0-9.]:3260\", \"lo\": \"127.0.0.1\", \"any\": "
                       "\"::/0\", \"private\": \"10.0.0.0/8\"}",
                       net, src, via, peer),
                4);
        assert_string_equal(src, peer);
        assert_string_not_equal(src, "10.9.0.17");
        one = parse(net);
        two = parse(src);
        assert_true(address_in_prefix(&two, &one, 24));
        assert_int_equal(one.bytes[3], 0);
        assert_int_equal(strncmp(via, "fe80::", 6), 0);
}

static void host_names_are_words(void **state)
{
        _cleanup_(anonymiser_freep) Anonymiser *a = anonymiser_new();
        _cleanup_(freep) char *out = NULL, *path = NULL;

        assert_int_equal(anonymiser_keep_words(a, "sys/devices/system/node/node0"), 0);
        assert_int_equal(anonymiser_learn_name(a, "Db01.prod.example.com"), 0);
        assert_int_equal(anonymiser_learn_name(a, "node.lab"), 0); /* a word of the kernel */
        assert_int_equal(anonymiser_learn_name(a, "ff"), 0);
        assert_int_equal(anonymiser_learn_name(a, "10"), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        out = replaced(a, "DB01 db01-san db010 xdb01 db01.prod.example.com prod.example.com node ff 10");
        assert_int_equal(strncmp(out, "host", 4), 0);
        assert_null(strcasestr(out, "db01-"));
        assert_null(strcasestr(out, "db01."));
        assert_null(strcasestr(out, "example"));
        assert_non_null(strstr(out, "-san db010 x"));
        assert_non_null(strstr(out, "node ff 10"));
        path = replaced(a, "sys/devices/system/node/node0/cpumap");
        assert_string_equal(path, "sys/devices/system/node/node0/cpumap");
        assert_int_equal(anonymiser_count(a, SECRET_HOST), 1);
        assert_int_equal(anonymiser_count(a, SECRET_DOMAIN), 1);
}

static void serials_keep_their_form(void **state)
{
        _cleanup_(anonymiser_freep) Anonymiser *a = anonymiser_new();
        _cleanup_(freep) char *letters = NULL, *digits = NULL, *wwn = NULL, *rest = NULL;
        static const char *const none[] = { "",         "Default string", "To be filled by O.E.M.",
                                            "00000000", "None",           "nvme0n1",
                                            "virtio10", "12345",          "serial" };

        for (size_t i = 0; i < ARRAY_SIZE(none); i++)
                assert_int_equal(anonymiser_learn_serial(a, none[i]), 0);
        assert_int_equal(anonymiser_learn_serial(a, "S3Z9NB0K123456  \n"), 0);
        assert_int_equal(anonymiser_learn_serial(a, "t10.ATA     SuperDisk 860 ABC-77_9"), 0);
        assert_int_equal(anonymiser_learn_serial(a, "9876543210"), 0);
        assert_int_equal(anonymiser_learn_serial(a, "0x50014380242bc8f0"), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        letters = replaced(a, "E:ID_SERIAL=SuperDisk_860-s3z9nb0k123456 ABC-77_9");
        assert_null(strcasestr(letters, "s3z9"));
        assert_null(strstr(letters, "ABC"));
        assert_non_null(strstr(letters, "SuperDisk_860-serial"));
        digits = replaced(a, "9876543210");
        assert_int_equal(strlen(digits), 10);
        assert_int_equal(strspn(digits, "0123456789"), 10);
        wwn = replaced(a, "rport-0x50014380242BC8F0-50014380242bc8f0");
        assert_null(strcasestr(wwn + 8, "50014380"));
        rest = replaced(a, "nvme0n1 virtio10 99998765432100 12345");
        assert_string_equal(rest, "nvme0n1 virtio10 99998765432100 12345");
        assert_int_equal(anonymiser_count(a, SECRET_SERIAL), 4);
}

static void uuids_and_wwns_keep_their_form(void **state)
{
        static const char text[] = "4c4c4544-0031-3510-8051-b9c04f4d3332 eui.0025385b71b0a0ff "
                                   "naa.60060160a6b0380042a3fa5b6d8de611";
        _cleanup_(anonymiser_freep) Anonymiser *a = LEARNED(text);
        _cleanup_(freep) char *out = NULL;
        Token t;

        assert_int_equal(anonymiser_choose(a), 0);
        out = replaced(a, text);
        assert_int_equal(strlen(out), strlen(text));
        assert_true(token_at(out, strlen(out), 0, &t) && t.kind == TOKEN_UUID);
        assert_true(token_at(out, strlen(out), 37, &t) && t.kind == TOKEN_WWN && t.length == 16);
        assert_true(token_at(out, strlen(out), 58, &t) && t.kind == TOKEN_WWN && t.length == 32);
}

static void bytes_of_any_value_are_carried(void **state)
{
        static const char text[] =
                "\0\xff\xfe 10.9.0.1\0 52:54:00:12:34:56\x80iqn.2024-01.x:\xc3\xa4\0:::::::."
                "enx\0 eui. 00-00 fe80: a.b.c.d ....\xff";
        _cleanup_(anonymiser_freep) Anonymiser *a = anonymiser_new();
        _cleanup_(freep) char *out = NULL;
        unsigned seed = 1;
        char noise[8192];
        size_t n = 0;

        /* Letters and signs of which tokens are made, and everything else. */
        for (size_t i = 0; i < sizeof(noise); i++) {
                seed = seed * 1103515245 + 12345;
                noise[i] = seed >> 30 ? "0123456789abcdef:.-/iqnx"[seed % 24 >> 0] : (char)(seed >> 16);
        }
        assert_int_equal(anonymiser_learn(a, text, sizeof(text) - 1), 0);
        assert_int_equal(anonymiser_learn(a, noise, sizeof(noise)), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        assert_non_null(anonymiser_find(a, text, sizeof(text) - 1));
        assert_int_equal(anonymiser_replace(a, text, sizeof(text) - 1, &out, &n), 0);
        assert_null(anonymiser_find(a, out, n));
        assert_memory_equal(out, "\0\xff\xfe 10.", 7);
        assert_memory_equal(out + n - 6, " ....\xff", 6);
        free(out);
        assert_int_equal(anonymiser_replace(a, noise, sizeof(noise), &out, &n), 0);
        free(out);
        assert_int_equal(anonymiser_replace(a, "", 0, &out, &n), 0);
        assert_int_equal(n, 0);
}

static void what_is_left_is_found(void **state)
{
        static const char *const texts[] = { "x10.9.0.1 10.9.0.1", "a/52:54:00:12:34:56",
                                             "a525400123456b", /* no word, so it is not replaced */
                                             "IQN.2024-01.X:T1",   "db01",
                                             "S3Z9NB0K123456" };
        _cleanup_(anonymiser_freep) Anonymiser *a =
                LEARNED("10.9.0.1", "52:54:00:12:34:56", "iqn.2024-01.x:t1");

        assert_int_equal(anonymiser_learn_name(a, "db01"), 0);
        assert_int_equal(anonymiser_learn_serial(a, "S3Z9NB0K123456"), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (!anonymiser_find(a, texts[i], strlen(texts[i])))
                        fail_msg("%s is not found", texts[i]);
        assert_null(anonymiser_find(a, "110.9.0.1 10.9.0.12 db011", 25));
}

/* What is replaced first may cut a token in two, of which nobody learned. */
static void overlaps_are_filled(void **state)
{
        static const char text[] = "ABC123-00:11:22:33:44:55:66 abc123-4c4c4544-0031-3510-8051-b9c04f4d3332";
        _cleanup_(anonymiser_freep) Anonymiser *a = LEARNED(text);
        _cleanup_(freep) char *out = NULL;

        assert_int_equal(anonymiser_learn_serial(a, "abc123-00"), 0);
        assert_int_equal(anonymiser_learn_serial(a, "abc123-4c4c4544"), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        out = replaced(a, text);
        assert_null(strstr(out, "11:22"));
        assert_null(strstr(out, "44:55"));
}

/* ---- filters ---- */

static void filters_keep_what_places(void **state)
{
        char cmdline[] =
                "BOOT_IMAGE=/boot/vmlinuz root=UUID=4c4c4544-0031-3510-8051-b9c04f4d3332 ro isolcpus=2-3 "
                "rd.iscsi.password=geheim nohz_full=2-3 nvme.poll_queues=4 ip=10.9.0.1 nosmt quiet\n";
        char version[] = "Linux version 6.1.0 (kim@db01.example.com) (gcc (Debian 12) 12.2.0) #1 SMP\n";
        char udev[] =
                "I:17\nE:ID_SERIAL=S3Z9\nE:ID_VENDOR_FROM_DATABASE=Maker\nE:ID_MODEL_FROM_DATABASE=Card "
                "5\nG:systemd\n";
        char nothing[] = "";

        cmdline[filter_cmdline(cmdline, strlen(cmdline))] = '\0';
        assert_string_equal(cmdline, "isolcpus=2-3 nohz_full=2-3 nvme.poll_queues=4 nosmt\n");
        version[filter_version(version, strlen(version))] = '\0';
        assert_string_equal(version, "Linux version 6.1.0  (gcc (Debian 12) 12.2.0) #1 SMP\n");
        udev[filter_udev(udev, strlen(udev))] = '\0';
        assert_string_equal(udev, "E:ID_VENDOR_FROM_DATABASE=Maker\nE:ID_MODEL_FROM_DATABASE=Card 5\n");
        assert_int_equal(filter_cmdline(nothing, 0), 0);
        assert_int_equal(filter_version(nothing, 0), 0);
        assert_int_equal(filter_udev(nothing, 0), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tokens_are_recognised),
                cmocka_unit_test(addresses_share_as_many_bits_as_before),
                cmocka_unit_test(kinds_of_addresses_stay),
                cmocka_unit_test(prefixes_stay_prefixes),
                cmocka_unit_test(one_mac_is_one_in_all_forms),
                cmocka_unit_test(iqns_keep_their_order),
                cmocka_unit_test(names_with_macs_keep_their_order),
                cmocka_unit_test(addresses_are_replaced_in_place),
                cmocka_unit_test(host_names_are_words),
                cmocka_unit_test(serials_keep_their_form),
                cmocka_unit_test(uuids_and_wwns_keep_their_form),
                cmocka_unit_test(bytes_of_any_value_are_carried),
                cmocka_unit_test(what_is_left_is_found),
                cmocka_unit_test(overlaps_are_filled),
                cmocka_unit_test(filters_keep_what_places),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

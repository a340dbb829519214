/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define V "version: 1\n"
/* A policy with one rule that sets what follows in a flow mapping; its value starts in column 10. */
#define SET(set) V "rules:\n  - name: r\n    set: " set "\n"

static Policy *parse(const char *text)
{
        PolicyErrors errors = { 0 };
        Policy *p = NULL;
        int r = policy_parse("t.yaml", text, strlen(text), &p, &errors);

        if (r < 0)
                print_error("%s: %s\n", errors.items[0].where, errors.items[0].text);
        assert_int_equal(r, 0);
        assert_int_equal(errors.n, 0);
        return p;
}

/* A device whose members are borrowed. */
static Device device(DeviceClass class, const char *driver, const char *pci, int node)
{
        return (Device) { .class = class, .driver = (char *)driver, .pci = (char *)pci, .node = node };
}

/* The word, or CPU list, or number in force; "" = no setting. Static storage. */
static const char *in_force(const Policy *p, const Device *d, const char *section, const char *key)
{
        static char buf[128];
        const Setting *s = policy_get(p, d, section, key);

        if (!s)
                return "";
        if (s->word) {
                snprintf(buf, sizeof(buf), "%s", s->word);
        } else if (s->cpus) {
                _cleanup_(freep) char *list = cpuset_format_list(s->cpus);

                snprintf(buf, sizeof(buf), "%s", list);
        } else {
                snprintf(buf, sizeof(buf), "%ld", s->number);
        }
        return buf;
}

static void compiled_in(void **state)
{
        _cleanup_(policy_freep) Policy *p = NULL;
        Device hba = device(DEVICE_HBA, "aacraid", "0000:21:00.0", 1);
        Device iscsi = device(DEVICE_ISCSI_HOST, "iscsi_tcp", NULL, NODE_UNKNOWN);

        assert_int_equal(policy_new_default(&p), 0);
        assert_int_equal(policy_defaults(p)->apply, APPLY_AUTO);
        assert_int_equal(policy_defaults(p)->on_drift, ON_DRIFT_REAPPLY);
        assert_int_equal(policy_defaults(p)->on_stop, ON_STOP_KEEP);
        assert_int_equal(policy_defaults(p)->verify, 300);
        assert_int_equal(policy_defaults(p)->irqbalance, IRQBALANCE_WAIT);
        assert_string_equal(in_force(p, &hba, "irq", "mode"), "spread");
        assert_string_equal(in_force(p, &hba, "workqueue", "cpumask"), "node");
        assert_string_equal(in_force(p, &iscsi, "workqueue", "cpumask"), "node");
        assert_string_equal(in_force(p, &iscsi, "irq", "mode"), "spread");
        assert_string_equal(in_force(p, &hba, "", "node"), "");
        assert_string_equal(policy_get(p, &hba, "irq", "mode")->rule, "interrupts");
        assert_int_equal(policy_files(p)->n, 1);
}

static void defaults_section(void **state)
{
        _cleanup_(policy_freep) Policy *few = parse(V), *all = NULL;

        assert_int_equal(policy_defaults(few)->verify, 300);
        assert_int_equal(policy_defaults(few)->apply, APPLY_AUTO);
        all = parse(V "defaults: {apply: ask, on_drift: report, on_stop: restore, verify: 2 h, irqbalance: "
                      "ignore}");
        assert_int_equal(policy_defaults(all)->apply, APPLY_ASK);
        assert_int_equal(policy_defaults(all)->on_drift, ON_DRIFT_REPORT);
        assert_int_equal(policy_defaults(all)->on_stop, ON_STOP_RESTORE);
        assert_int_equal(policy_defaults(all)->verify, 7200);
        assert_int_equal(policy_defaults(all)->irqbalance, IRQBALANCE_IGNORE);
}

static void durations(void **state)
{
        static const struct {
                const char *text;
                unsigned seconds;
        } rows[] = { { "10", 10 },         { "30s", 30 },    { "\"45\"", 45 }, { "5min", 300 },
                     { "1440min", 86400 }, { "24h", 86400 }, { "1d", 86400 } };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(freep) char *text = strf(V "defaults: {verify: %s}", rows[i].text);
                _cleanup_(policy_freep) Policy *p = parse(text);

                assert_int_equal(policy_defaults(p)->verify, rows[i].seconds);
        }
}

static void values(void **state)
{
        _cleanup_(policy_freep) Policy *p = parse(SET("{node: 3, cpus: 8, irq: {mode: \"0-3,8\"}, "
                                                      "workqueue: {cpumask: leave}}"));
        _cleanup_(policy_freep) Policy *words =
                parse(SET("{node: spread, irq: {mode: 'node'}, workqueue: }"));
        Device d = device(DEVICE_NIC, "igb", "0000:21:00.0", 1);

        assert_string_equal(in_force(p, &d, "", "node"), "3");
        assert_null(policy_get(p, &d, "", "node")->word);
        assert_string_equal(in_force(p, &d, "", "cpus"), "8");
        assert_string_equal(in_force(p, &d, "irq", "mode"), "0-3,8");
        assert_string_equal(in_force(p, &d, "workqueue", "cpumask"), "leave");
        assert_string_equal(in_force(words, &d, "", "node"), "spread");
        assert_string_equal(in_force(words, &d, "irq", "mode"), "node");
        assert_string_equal(in_force(words, &d, "workqueue", "cpumask"), "");
}

static void origin(void **state)
{
        _cleanup_(policy_freep) Policy *p = parse(V "rules:\n"
                                                    "- name: one\n"
                                                    "  set:\n"
                                                    "    cpus: 0-3\n"
                                                    "    irq:\n"
                                                    "      mode: spread\n");
        Device d = device(DEVICE_NVME, "nvme", "0000:21:00.0", 1);
        const Setting *s = policy_get(p, &d, "irq", "mode");

        assert_string_equal(s->section, "irq");
        assert_string_equal(s->key->name, "mode");
        assert_string_equal(s->rule, "one");
        assert_string_equal(s->file, "t.yaml");
        assert_int_equal(s->line, 7);
        assert_int_equal(s->column, 7);
        assert_int_equal(policy_get(p, &d, "", "cpus")->line, 5);
}

/* Whether a match fits a device. */
static bool fits(const char *match, const Device *d)
{
        _cleanup_(freep) char *text = strf(V "rules:\n- name: r\n  match: %s\n  set: {node: 0}\n", match);
        _cleanup_(policy_freep) Policy *p = parse(text);

        return policy_get(p, d, "", "node") != NULL;
}

static void match_everything(void **state)
{
        Device d = device(DEVICE_HBA, "", NULL, NODE_UNKNOWN);
        _cleanup_(policy_freep) Policy *p = parse(SET("{node: 0}"));

        assert_non_null(policy_get(p, &d, "", "node"));
        assert_true(fits("", &d));
        assert_true(fits("{}", &d));
        assert_true(fits("~", &d));
}

static void match_by_key(void **state)
{
        Device d = device(DEVICE_HBA, "hisi_sas_v3_hw", "0000:af:00.1", 2);
        Device bare = device(DEVICE_ISCSI_HOST, "", NULL, NODE_UNKNOWN);

        assert_true(fits("{class: hba}", &d));
        assert_true(fits("{class: [nvme, hba]}", &d));
        assert_false(fits("{class: [nvme, nic]}", &d));
        assert_true(fits("{driver: hisi_sas*}", &d));
        assert_false(fits("{driver: hisi}", &d));
        assert_true(fits("{driver: [mpt3sas, '*_v[23]_hw']}", &d));
        assert_true(fits("{pci: 0000:af:00.1}", &d));
        assert_true(fits("{pci: AF:00.*}", &d));
        assert_true(fits("{pci: 0000:AF:00.?}", &d));
        assert_false(fits("{pci: 0001:af:00.1}", &d));
        assert_false(fits("{pci: '*'}", &bare));
        assert_true(fits("{node: 2}", &d));
        assert_true(fits("{node: [0, 2]}", &d));
        assert_false(fits("{node: [0, unknown]}", &d));
        assert_true(fits("{node: unknown}", &bare));
        assert_false(fits("{node: 0}", &bare));
        /* Every key has to fit. */
        assert_true(fits("{class: hba, node: 2}", &d));
        assert_false(fits("{class: hba, node: 1}", &d));
        assert_false(fits("{transport: '*'}", &d));
        assert_false(fits("{netdev: '*'}", &d));
}

static void match_netdev(void **state)
{
        char *names[] = { (char *)"ens1f0", (char *)"ens1f1" };
        IscsiFacts facts = { .transport = (char *)"tcp",
                             .netdev = (char *)"bond0.7",
                             .nic = (char *)"ens1f1" };
        Device nic = device(DEVICE_NIC, "igb", "0000:21:00.0", 1);
        Device iscsi = device(DEVICE_ISCSI_HOST, "iscsi_tcp", NULL, 1);

        nic.netdevs = (Strv) { names, 2 };
        iscsi.iscsi = &facts;
        assert_true(fits("{netdev: ens1f1}", &nic));
        assert_true(fits("{netdev: [eth0, 'ens1*']}", &nic));
        assert_false(fits("{netdev: ens1}", &nic));
        assert_true(fits("{netdev: bond0.*}", &iscsi));
        assert_true(fits("{netdev: ens1f1}", &iscsi));
        assert_false(fits("{netdev: ens1f0}", &iscsi));
        assert_true(fits("{transport: t*}", &iscsi));
        assert_false(fits("{transport: [qedi, bnx2i]}", &iscsi));
        facts.netdev = facts.nic = NULL;
        assert_false(fits("{netdev: '*'}", &iscsi));
}

static void later_rules_win(void **state)
{
        _cleanup_(policy_freep) Policy *p =
                parse(V "rules:\n"
                        "- {name: all, set: {node: 1, irq: {mode: spread}}}\n"
                        "- {name: hbas, match: {class: hba}, set: {irq: {mode: node}}}\n"
                        "- {name: nics, match: {class: nic}, set: {irq: {mode: leave}}}\n");
        Device hba = device(DEVICE_HBA, "aacraid", "0000:21:00.0", 1);
        Device nvme = device(DEVICE_NVME, "nvme", "0000:22:00.0", 1);

        assert_string_equal(in_force(p, &hba, "irq", "mode"), "node");
        assert_string_equal(policy_get(p, &hba, "irq", "mode")->rule, "hbas");
        assert_string_equal(in_force(p, &hba, "", "node"), "1");
        assert_string_equal(in_force(p, &nvme, "irq", "mode"), "spread");
}

/* One wrong text, and the one problem that is reported. */
static const struct {
        const char *text, *where, *problem;
} wrong[] = {
        { "", "1:1", "the file is empty; a policy starts with \"version: 1\"" },
        { "# only a comment\n", "1:1", "the file is empty; a policy starts with \"version: 1\"" },
        { "---\n", "1:1", "the file is empty; a policy starts with \"version: 1\"" },
        { "rules: []\n", "1:1", "\"version: 1\" is missing" },
        { "version: 2\nrulez:\n", "1:10", "\"version\" is out of range: it must be 1" },
        { "version: \"1\"\n", "1:10", "\"version\" is a number and stands without quotes: 1" },
        { "version: one\n", "1:10", "\"version\" must be 1, not \"one\"" },
        { "[]\n", "1:1", "a policy must be a mapping (key: value), not a list" },
        { "hello\n", "1:1", "a policy must be a mapping (key: value), not text" },
        { V "rule: []\n", "2:1", "unknown key \"rule\", did you mean \"rules\"?" },
        { V "x: []\n", "2:1", "unknown key \"x\", known here: version, defaults, rules" },
        { V "rules: {}\n", "2:8", "\"rules\" must be a list (- name: ...), not a mapping" },
        { V "rules: [7]\n", "2:9", "a rule must be a mapping (key: value), not text" },
        { V "rules:\n- set: {node: 1}\n", "3:3",
          "the rule has no name; it is shown as the reason of what the rule causes" },
        { V "rules:\n-\n", "3:2", "the rule has no name; it is shown as the reason of what the rule causes" },
        { V "rules: [{name: ''}]\n", "2:16", "\"name\" must be text of 1 to 128 bytes, not \"\"" },
        { V "rules: [{name: a}, {name: b}, {name: a}]\n", "2:38",
          "an earlier rule of this file is named \"a\" too" },
        { V "version: 1\n", "2:1", "the key \"version\" is there already, in line 1" },
        { V "defaults: {irqbalance: stop}\n", "2:24",
          "\"irqbalance\" must be one of wait, ban, ignore, not \"stop\"" },
        { V "defaults: {verify: 9}\n", "2:20",
          "\"verify\" is out of range: it must be a time from 10s to 1d, such as 30s or 5min" },
        { V "defaults: {verify: 25h}\n", "2:20",
          "\"verify\" is out of range: it must be a time from 10s to 1d, such as 30s or 5min" },
        { V "defaults: {verify: 5m}\n", "2:20",
          "\"verify\" must be a time from 10s to 1d, such as 30s or 5min, not \"5m\"" },
        { V "defaults: {verify: -5}\n", "2:20",
          "\"verify\" must be a time from 10s to 1d, such as 30s or 5min, not \"-5\"" },
        { V "defaults: {verify: 99999999999999999999d}\n", "2:20",
          "\"verify\" must be a time from 10s to 1d, such as 30s or 5min, not \"99999999999999999999d\"" },
        { V "defaults: {on_drift: reaply}\n", "2:22",
          "\"on_drift\" cannot be \"reaply\", did you mean \"reapply\"?" },
        { V "defaults: {on_stop: forget}\n", "2:21",
          "\"on_stop\" must be one of keep, restore, not \"forget\"" },
        { V "defaults: {apply: [auto]}\n", "2:19", "\"apply\" must be one of auto, ask, never, not a list" },
        { V "defaults: {apply: }\n", "2:19", "\"apply\" must be one of auto, ask, never, not empty" },
        { SET("{irq: {modee: spread}}"), "4:17", "unknown key \"modee\", did you mean \"mode\"?" },
        { SET("{workqeue: {}}"), "4:11", "unknown key \"workqeue\", did you mean \"workqueue\"?" },
        { SET("{irq: spread}"), "4:16", "\"irq\" must be a mapping (key: value), not text" },
        { SET("{irq: {mode: spraed}}"), "4:23", "\"mode\" cannot be \"spraed\", did you mean \"spread\"?" },
        { SET("{irq: {mode: 5-3}}"), "4:23",
          "\"mode\" must be spread, node, leave or a CPU list such as \"0-3,8\", not \"5-3\"" },
        { SET("{irq: {mode: 0,2-3}}"), "4:25",
          "unknown key \"2-3\"; a CPU list with commas needs quotes here" },
        { SET("{cpus: ''}"), "4:17", "\"cpus\" is an empty CPU list" },
        { SET("{cpus: ' '}"), "4:17", "\"cpus\" is an empty CPU list" },
        { SET("{cpus: 65536}"), "4:17", "\"cpus\" has a CPU number over 65535" },
        { SET("{cpus: [1, 2]}"), "4:17", "\"cpus\" must be a CPU list such as \"0-3,8\", not a list" },
        { SET("{node: 1024}"), "4:17",
          "\"node\" is out of range: it must be spread, leave or a number from 0 to 1023" },
        { SET("{node: -1}"), "4:17",
          "\"node\" is out of range: it must be spread, leave or a number from 0 to 1023" },
        { SET("{node: '1'}"), "4:17", "\"node\" is a number and stands without quotes: 1" },
        { SET("{node: 01}"), "4:17",
          "\"node\" must be spread, leave or a number from 0 to 1023, not \"01\"" },
        { SET("{node: 1.5}"), "4:17",
          "\"node\" must be spread, leave or a number from 0 to 1023, not \"1.5\"" },
        { V "rules: [{name: r, match: {class: []}}]\n", "2:34",
          "\"class\" is an empty list; leave the key out to match every device" },
        { V "rules: [{name: r, match: {class: [hba, disk]}}]\n", "2:40",
          "\"class\" must be one of hba, nvme, nic, iscsi-host, not \"disk\"" },
        { V "rules: [{name: r, match: {driver: [a, [b]]}}]\n", "2:39",
          "\"driver\" must be text of 1 to 128 bytes, not a list" },
        { V "rules: [{name: r, match: [hba]}]\n", "2:26",
          "\"match\" must be a mapping (key: value), not a list" },
        { V "rules: [{name: r, match: {node: none}}]\n", "2:33",
          "\"node\" must be unknown or a number from 0 to 1023, not \"none\"" },
        { V "defaults: &d {}\n", "2:11", "anchors (&name) are not allowed; write the value out" },
        { V "defaults: *d\n", "2:11",
          "aliases (*name) are not allowed; a pattern that starts with * needs quotes" },
        { V "rules: [{name: !!str r}]\n", "2:16",
          "tags (!name) are not allowed; text that starts with ! needs quotes" },
        { "%TAG ! tag:example.org,2000:\n---\n" V, "1:1", "%TAG directives are not allowed" },
        { V "---\n" V, "2:1", "a second document starts here; a policy file holds one" },
        { V "...\n---\n", "3:1", "a second document starts here; a policy file holds one" },
        { V "rules: [{name: \"a\\nb\"}]\n", "2:16",
          "control characters and line ends are not allowed in a value" },
        { V "rules: [{name: \"a\\0b\"}]\n", "2:16",
          "control characters and line ends are not allowed in a value" },
        { V "rules: [{name: \"a\\x9bb\"}]\n", "2:16",
          "control characters and line ends are not allowed in a value" },
        { V "[a]: 1\n", "2:1", "a key must be a word, not a list" },
        { V "rules:\n\t- name: r\n", "3:1",
          "YAML syntax: found character that cannot start any token while scanning for the next token; lines "
          "are indented with spaces, not tabs, and a value that starts with @ or ` needs quotes" },
        { V "rules: [{name: *}]\n", "2:17",
          "YAML syntax: did not find expected alphabetic or numeric character while scanning an alias; a "
          "pattern that starts with * needs quotes" },
        { V "rules: [\n", "3:1",
          "YAML syntax: did not find expected node content while parsing a flow node" },
        { V "r\xffules: []\n", "2:2", "the file is not plain UTF-8 text: invalid leading UTF-8 octet" },
        { V "a: \x01\n", "2:4", "the file is not plain UTF-8 text: control characters are not allowed" },
};

static void one_error(void **state)
{
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                _cleanup_(freep) char *where = strf("t.yaml:%s", wrong[i].where);
                PolicyErrors errors = { 0 };
                Policy *p = NULL;

                assert_int_equal(policy_parse("t.yaml", wrong[i].text, strlen(wrong[i].text), &p, &errors),
                                 -EINVAL);
                assert_null(p);
                if (errors.n != 1 || strcmp(errors.items[0].where, where) != 0)
                        print_error("%s", wrong[i].text);
                assert_string_equal(errors.items[0].text, wrong[i].problem);
                assert_string_equal(errors.items[0].where, where);
                assert_int_equal(errors.items[0].code, -EINVAL);
                assert_int_equal(errors.n, 1);
                /* Nobody has to want to know. */
                assert_int_equal(policy_parse("t.yaml", wrong[i].text, strlen(wrong[i].text), &p, NULL),
                                 -EINVAL);
        }
}

/* Problems come in the order of the file, whichever stage found them, and reading goes on behind each. */
static void errors_in_order(void **state)
{
        static const char text[] = V "defaults: {aply: auto, verify: 1}\n"
                                     "rules:\n"
                                     "- match: {class: disk}\n"
                                     "  set: {irq: {mode: 9-1}, irq: {}}\n"
                                     "- name: &x two\n"
                                     "  sett: {}\n";
        static const char *const wheres[] = { "t.yaml:2:12", "t.yaml:2:32", "t.yaml:4:3", "t.yaml:4:18",
                                              "t.yaml:5:21", "t.yaml:5:27", "t.yaml:6:9", "t.yaml:7:3" };
        PolicyErrors errors = { 0 };
        Policy *p = NULL;

        assert_int_equal(policy_parse("t.yaml", text, strlen(text), &p, &errors), -EINVAL);
        for (size_t i = 0; i < ARRAY_SIZE(wheres); i++)
                assert_string_equal(errors.items[i].where, wheres[i]);
        assert_int_equal(errors.n, ARRAY_SIZE(wheres));
}

/* Fifty wrong keys, and an anchor in the first line: the first 20 problems of the file stay. */
static void at_most_twenty(void **state)
{
        char text[2048] = V "defaults: &d\n";
        PolicyErrors errors = { 0 };
        Policy *p = NULL;
        size_t at = strlen(text);

        for (int i = 0; i < 50; i++)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "  x%d: 1\n", i);
        assert_int_equal(policy_parse("t.yaml", text, at, &p, &errors), -EINVAL);
        assert_int_equal(errors.n, POLICY_ERRORS_MAX);
        assert_string_equal(errors.items[0].where, "t.yaml:2:11");
        assert_string_equal(errors.items[1].where, "t.yaml:3:3");
        assert_string_equal(errors.items[19].where, "t.yaml:21:3");
        /* A full list stays as it is. */
        assert_int_equal(policy_parse("u.yaml", text, at, &p, &errors), -EINVAL);
        assert_int_equal(errors.n, POLICY_ERRORS_MAX);
        assert_string_equal(errors.items[19].where, "t.yaml:21:3");
}

/* A long word is shortened between two characters, never inside one. */
static void long_words(void **state)
{
        char text[1024] = V "x";
        PolicyErrors errors = { 0 };
        Policy *p = NULL;

        for (int i = 0; i < 200; i++)
                strcat(text, "\xc3\xa4");
        strcat(text, ": 1\n");
        assert_int_equal(policy_parse("t.yaml", text, strlen(text), &p, &errors), -EINVAL);
        assert_int_equal(errors.n, 1);
        assert_non_null(strstr(errors.items[0].text, "\xc3\xa4...\", known here"));
}

/* `open` n times, then `close` n times, behind a head. */
static char *nested(const char *head, const char *open, const char *close, size_t n)
{
        char *text = calloc(1, strlen(head) + n * (strlen(open) + strlen(close)) + 2), *at = text;

        assert_non_null(text);
        at = stpcpy(at, head);
        for (size_t i = 0; i < n; i++)
                at = stpcpy(at, open);
        for (size_t i = 0; i < n; i++)
                at = stpcpy(at, close);
        stpcpy(at, "\n");
        return text;
}

static void expect_error(const char *text, size_t size, const char *where, const char *problem)
{
        PolicyErrors errors = { 0 };
        Policy *p = NULL;

        assert_int_equal(policy_parse("t.yaml", text, size, &p, &errors), -EINVAL);
        assert_string_equal(errors.items[errors.n - 1].where, where);
        assert_string_equal(errors.items[errors.n - 1].text, problem);
}

static void limits(void **state)
{
        _cleanup_(freep) char *deep = nested(V "rules: ", "[", "]", 15);
        _cleanup_(freep) char *too_deep = nested(V "rules: ", "[", "]", 16);
        _cleanup_(freep) char *very_deep = nested(V "rules: ", "[", "", 1000000);
        _cleanup_(freep) char *deep_map = nested(V "rules: ", "{a: ", "", 200000);
        _cleanup_(freep) char *list = nested(V "rules: [{name: r, match: {node: [", "1,", "", 1024);
        _cleanup_(freep) char *too_long = nested(V "defaults: {verify: [", "1,", "", 1025);
        _cleanup_(freep) char *whole = strf("%s]}}]\n", list);

        policy_free(parse(whole));
        expect_error(deep, strlen(deep), "t.yaml:2:9", "a rule must be a mapping (key: value), not a list");
        expect_error(too_deep, strlen(too_deep), "t.yaml:2:23", "lists and mappings are nested too deep");
        expect_error(very_deep, strlen(very_deep), "t.yaml:2:23", "lists and mappings are nested too deep");
        expect_error(deep_map, strlen(deep_map), "t.yaml:2:68", "lists and mappings are nested too deep");
        expect_error(too_long, strlen(too_long), "t.yaml:2:2069", "a list has more than 1024 entries");
}

/* A few bytes can name very many CPUs; the lists of a file may not take seconds. */
static void cpulist_limit(void **state)
{
        _cleanup_(freep) char *most = nested(V "rules: [{name: r, set: {cpus: \"", "0-65535,", "", 4095);
        _cleanup_(freep) char *long_list =
                nested(V "rules: [{name: r, set: {cpus: \"", "0-65535,", "", 100000);
        _cleanup_(freep) char *whole = NULL, *more = NULL, *too_long = NULL;

        *strchr(strchr(most, '\n') + 1, '\n') = '\0';
        *strchr(strchr(long_list, '\n') + 1, '\n') = '\0';
        whole = strf("%s1\"}}]\n", most);
        policy_free(parse(whole));
        more = strf("%s1\"}}, {name: s, set: {cpus: 1}}]\n", most);
        expect_error(more, strlen(more), "t.yaml:2:32820",
                     "\"cpus\": the CPU lists of the file have more than 4096 ranges");
        too_long = strf("%s1\"}}]\n", long_list);
        expect_error(too_long, strlen(too_long), "t.yaml:2:31",
                     "\"cpus\": the CPU lists of the file have more than 4096 ranges");
}

static void many_keys(void **state)
{
        char text[1024] = V;
        size_t at = strlen(text);

        for (int i = 0; i < 64; i++)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "k%d: 1\n", i);
        expect_error(text, at, "t.yaml:65:1", "a mapping has more than 64 entries");
}

static void size_limit(void **state)
{
        const size_t max = 1024 * 1024;
        _cleanup_(freep) char *text = malloc(max + 1);
        _cleanup_(policy_freep) Policy *p = NULL;

        assert_non_null(text);
        memset(text, '#', max + 1);
        memcpy(text, V, strlen(V));
        assert_int_equal(policy_parse("t.yaml", text, max, &p, NULL), 0);
        expect_error(text, max + 1, "t.yaml:1:1", "the file is larger than 1048576 bytes");
}

/* What the library makes of a text must never reach behind its end. */
static void cut_texts(void **state)
{
        static const char text[] =
                V "defaults: {apply: ask}\nrules:\n- name: \"r\\u00e4\"\n  match: {class: [hba]}\n"
                  "  set: {irq: {mode: \"0-3\"}}\n";

        for (size_t n = 0; n < strlen(text); n++) {
                _cleanup_(freep) char *copy = memcpy(malloc(n + 1), text, n);
                PolicyErrors errors = { 0 };
                Policy *p = NULL;
                int r = policy_parse("t.yaml", copy, n, &p, &errors);

                assert_int_equal(r < 0, p == NULL);
                assert_int_equal(r<0, errors.n> 0);
                policy_free(p);
        }
}

static void write_file(const char *dir, const char *name, const char *text)
{
        _cleanup_(freep) char *path = strf("%s/%s", dir, name);
        _cleanup_(fclosep) FILE *f = fopen(path, "we");

        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        return remove(path);
}

/* A temporary folder with the folders "low" and "high" in it, the arguments of policy_load_dirs(). */
typedef struct Folders {
        char top[SCRATCH_MAX], low[SCRATCH_MAX + 16], high[SCRATCH_MAX + 16], missing[SCRATCH_MAX + 16];
        const char *dirs[3];
} Folders;

static void folders_make(Folders *f)
{
        scratch_make(f->top, "policy");
        snprintf(f->low, sizeof(f->low), "%s/low", f->top);
        snprintf(f->high, sizeof(f->high), "%s/high", f->top);
        snprintf(f->missing, sizeof(f->missing), "%s/missing", f->top);
        assert_int_equal(mkdir(f->low, 0700), 0);
        assert_int_equal(mkdir(f->high, 0700), 0);
        f->dirs[0] = f->low;
        f->dirs[1] = f->missing;
        f->dirs[2] = f->high;
}

static void folders_remove(const Folders *f)
{
        nftw(f->top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static Policy *load(const Folders *f)
{
        PolicyErrors errors = { 0 };
        Policy *p = NULL;
        int r = policy_load_dirs(f->dirs, 3, &p, &errors);

        if (r < 0)
                print_error("%s: %s\n", errors.items[0].where, errors.items[0].text);
        assert_int_equal(r, 0);
        return p;
}

static void folders_in_order(void **state)
{
        Device d = device(DEVICE_HBA, "aacraid", "0000:21:00.0", 1);
        _cleanup_(policy_freep) Policy *p = NULL;
        _cleanup_(freep) char *last = NULL;
        Folders f;

        folders_make(&f);
        write_file(f.low, "20-b.yaml", V "rules: [{name: b, set: {node: 2, irq: {mode: node}}}]");
        write_file(f.low, "10-a.yaml",
                   V "defaults: {apply: ask, verify: 1h}\n"
                     "rules: [{name: a, set: {node: 1, cpus: 0-3}}]");
        write_file(f.high, "00-c.yaml", V "defaults: {verify: 2h}\nrules: [{name: b, set: {node: 3}}]");
        write_file(f.high, ".hidden.yaml", "wrong");
        write_file(f.high, "notes.txt", "wrong");
        write_file(f.high, ".yaml", "wrong");
        /* what editors and package managers leave beside a file */
        write_file(f.high, "00-c.yaml~", "wrong");
        write_file(f.high, "00-c.yaml.swp", "wrong");
        write_file(f.high, "00-c.yaml.dpkg-new", "wrong");
        write_file(f.high, "00-c.yml", "wrong");
        write_file(f.high, ".00-c.yaml.swp", "wrong");
        write_file(f.high, "#00-c.yaml#", "wrong");
        p = load(&f);
        assert_string_equal(in_force(p, &d, "", "node"), "3");
        assert_string_equal(in_force(p, &d, "irq", "mode"), "node");
        assert_string_equal(in_force(p, &d, "", "cpus"), "0-3");
        assert_int_equal(policy_defaults(p)->apply, APPLY_ASK);
        assert_int_equal(policy_defaults(p)->verify, 7200);
        assert_int_equal(policy_files(p)->n, 3);
        last = strf("%s/00-c.yaml", f.high);
        assert_string_equal(policy_files(p)->items[2], last);
        assert_string_equal(policy_get(p, &d, "", "node")->file, last);
        folders_remove(&f);
}

static void same_name_replaces(void **state)
{
        Device d = device(DEVICE_HBA, "aacraid", "0000:21:00.0", 1);
        _cleanup_(policy_freep) Policy *p = NULL, *masked = NULL;
        _cleanup_(freep) char *link = NULL;
        Folders f;

        folders_make(&f);
        write_file(f.low, "a.yaml", "this is not even looked at: [");
        write_file(f.high, "a.yaml", V "rules: [{name: a, set: {node: 1}}]");
        p = load(&f);
        assert_string_equal(in_force(p, &d, "", "node"), "1");
        assert_int_equal(policy_files(p)->n, 1);
        /* A link to /dev/null only takes away; nothing is left, and the compiled-in policy applies. */
        link = strf("%s/a.yaml", f.high);
        assert_int_equal(unlink(link), 0);
        assert_int_equal(symlink("/dev/null", link), 0);
        masked = load(&f);
        assert_string_equal(in_force(masked, &d, "", "node"), "");
        assert_string_equal(in_force(masked, &d, "irq", "mode"), "spread");
        folders_remove(&f);
}

static void no_file_is_the_default(void **state)
{
        Device d = device(DEVICE_HBA, "aacraid", "0000:21:00.0", 1);
        _cleanup_(policy_freep) Policy *p = NULL, *none = NULL;
        PolicyErrors errors = { 0 };
        Folders f;

        folders_make(&f);
        p = load(&f);
        assert_string_equal(in_force(p, &d, "irq", "mode"), "spread");
        folders_remove(&f);
        assert_int_equal(policy_load_dirs(NULL, 0, &none, &errors), 0);
        assert_string_equal(in_force(none, &d, "irq", "mode"), "spread");
}

/* Every bad file is shown, and nothing of the good one applies. */
static void nothing_half_applied(void **state)
{
        _cleanup_(freep) char *first = NULL, *second = NULL, *folder = NULL;
        PolicyErrors errors = { 0 };
        Policy *p = NULL;
        Folders f;

        folders_make(&f);
        write_file(f.low, "a.yaml", V "rule: []");
        write_file(f.low, "b.yaml", V);
        write_file(f.high, "c.yaml", "");
        folder = strf("%s/d.yaml", f.high);
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_int_equal(policy_load_dirs(f.dirs, 3, &p, &errors), -EINVAL);
        assert_null(p);
        assert_int_equal(errors.n, 3);
        first = strf("%s/a.yaml:2:1", f.low);
        second = strf("%s/c.yaml:1:1", f.high);
        assert_string_equal(errors.items[0].where, first);
        assert_string_equal(errors.items[1].where, second);
        assert_string_equal(errors.items[2].where, folder);
        assert_string_equal(errors.items[2].text, "is not a regular file");
        folders_remove(&f);
}

static void bad_file_names(void **state)
{
        PolicyErrors errors = { 0 };
        Policy *p = NULL;
        Folders f;

        folders_make(&f);
        write_file(f.high, "a\nb.yaml", V);
        assert_int_equal(policy_load_dirs(f.dirs, 3, &p, &errors), -EINVAL);
        assert_int_equal(errors.n, 1);
        assert_string_equal(errors.items[0].where, f.high);
        folders_remove(&f);
}

static void one_file(void **state)
{
        _cleanup_(freep) char *path = NULL, *where = NULL;
        _cleanup_(policy_freep) Policy *p = NULL;
        PolicyErrors errors = { 0 };
        Folders f;

        folders_make(&f);
        path = strf("%s/a.yaml", f.low);
        assert_int_equal(policy_load_file(path, &p, &errors), -ENOENT);
        assert_int_equal(errors.n, 1);
        assert_int_equal(errors.items[0].code, -ENOENT);
        assert_string_equal(errors.items[0].where, path);
        assert_string_equal(errors.items[0].text, "cannot read the policy: No such file or directory");
        errors = (PolicyErrors) { 0 };
        assert_int_equal(policy_load_file(f.low, &p, &errors), -EISDIR);
        write_file(f.low, "a.yaml", V "defaults: {verify: x}");
        errors = (PolicyErrors) { 0 };
        assert_int_equal(policy_load_file(path, &p, &errors), -EINVAL);
        where = strf("%s:2:20", path);
        assert_string_equal(errors.items[0].where, where);
        assert_null(p);
        write_file(f.low, "a.yaml", V "defaults: {verify: 20}");
        assert_int_equal(policy_load_file(path, &p, NULL), 0);
        assert_int_equal(policy_defaults(p)->verify, 20);
        folders_remove(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(compiled_in),
                cmocka_unit_test(defaults_section),
                cmocka_unit_test(durations),
                cmocka_unit_test(values),
                cmocka_unit_test(origin),
                cmocka_unit_test(match_everything),
                cmocka_unit_test(match_by_key),
                cmocka_unit_test(match_netdev),
                cmocka_unit_test(later_rules_win),
                cmocka_unit_test(one_error),
                cmocka_unit_test(errors_in_order),
                cmocka_unit_test(at_most_twenty),
                cmocka_unit_test(long_words),
                cmocka_unit_test(limits),
                cmocka_unit_test(cpulist_limit),
                cmocka_unit_test(many_keys),
                cmocka_unit_test(size_limit),
                cmocka_unit_test(cut_texts),
                cmocka_unit_test(folders_in_order),
                cmocka_unit_test(same_name_replaces),
                cmocka_unit_test(no_file_is_the_default),
                cmocka_unit_test(nothing_half_applied),
                cmocka_unit_test(bad_file_names),
                cmocka_unit_test(one_file),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

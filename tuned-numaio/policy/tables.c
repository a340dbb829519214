/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/internal.h"

static const char *const apply_words[] = { "auto", "ask", "never", NULL };
static const char *const on_drift_words[] = { "reapply", "yield", "report", NULL };
static const char *const on_stop_words[] = { "keep", "restore", NULL };
static const char *const irqbalance_words[] = { "wait", "ban", "ignore", NULL };
static const char *const class_words[] = { "hba", "nvme", "nic", "iscsi-host", NULL };
static const char *const unknown_words[] = { "unknown", NULL };

#define TEXT_MAX 128
#define NODE_MAX 1023
#define DAY      (24L * 60 * 60)

const PolicyKey policy_version_key = { "version", KEY_NUMBER, NULL, 1, 1, "version of this form; always 1" };

const PolicyKey policy_name_key = { "name",   KEY_TEXT,
                                    NULL,     1,
                                    TEXT_MAX, "name of the rule, shown as the reason of what it causes" };

const PolicyKey policy_defaults_keys[_DEFAULTS_KEY_MAX] = {
        [DEFAULTS_APPLY] = { "apply", KEY_ENUM, apply_words, 0, 0,
                             "auto = carry plans out, ask = wait for \"numaioctl apply\", never = only "
                             "observe" },
        [DEFAULTS_ON_DRIFT] = { "on_drift", KEY_ENUM, on_drift_words, 0, 0,
                                "what to do when somebody else changed a value that was set: set it again, "
                                "leave it to them, or only report it" },
        [DEFAULTS_ON_STOP] = { "on_stop", KEY_ENUM, on_stop_words, 0, 0,
                               "keep = what was set stays, restore = the first values are put back at every "
                               "stop" },
        [DEFAULTS_VERIFY] = { "verify", KEY_DURATION, NULL, 10, DAY,
                              "how often to look for changed values when no event tells" },
        [DEFAULTS_IRQBALANCE] = { "irqbalance", KEY_ENUM, irqbalance_words, 0, 0,
                                  "while irqbalance runs: wait with interrupts until it has ended, ban = "
                                  "tell "
                                  "it to leave them alone, ignore = place them as if it were not there" },
};

const PolicyKey policy_match_keys[_MATCH_KEY_MAX] = {
        [MATCH_CLASS] = { "class", KEY_ENUM, class_words, 0, 0, "kind of device" },
        [MATCH_DRIVER] = { "driver", KEY_TEXT, NULL, 1, TEXT_MAX, "name of the kernel driver" },
        [MATCH_PCI] = { "pci", KEY_TEXT, NULL, 1, TEXT_MAX,
                        "PCI address, such as 0000:21:00.0; without its domain it means domain 0000" },
        [MATCH_NETDEV] = { "netdev", KEY_TEXT, NULL, 1, TEXT_MAX,
                           "network interface: of a NIC any of its own, of an iSCSI host the one that its "
                           "connection uses or the physical one below that" },
        [MATCH_NODE] = { "node", KEY_NUMBER, unknown_words, 0, NODE_MAX,
                         "NUMA node that the device was found on" },
        [MATCH_TRANSPORT] = { "transport", KEY_TEXT, NULL, 1, TEXT_MAX,
                              "iSCSI transport, such as tcp or qedi; only iSCSI hosts have one" },
};

const char *apply_mode_to_string(ApplyMode m)
{
        return apply_words[m];
}

const char *on_drift_to_string(OnDrift d)
{
        return on_drift_words[d];
}

const char *on_stop_to_string(OnStop s)
{
        return on_stop_words[s];
}

const char *on_irqbalance_to_string(OnIrqbalance i)
{
        return irqbalance_words[i];
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/ctl.h"

#include "ctl/capture.h"
#include "ctl/client.h"
#include "ctl/machine.h"
#include "ctl/show.h"
#include "ctl/table.h"

#include <errno.h>
#include <string.h>

/* What the kernel refuses for good is an answer; what failed is a failure. */
static int results_exit_code(const json_t *answer)
{
        const json_t *item;
        size_t i;

        json_array_foreach(json_object_get(answer, "changes"), i,
                           item) if (strcmp(json_text_at(item, "state"), "failed") == 0) return EXIT_FAILURE;
        return EXIT_SUCCESS;
}

static int run_capture(const Ctl *c, const char *argument, json_t **ret, Error *e)
{
        if (strcmp(argument, "-") == 0 && isatty(STDOUT_FILENO))
                return error_set(e, -ENOTTY, NULL, "standard output is a terminal; name a file");
        return capture(c->root ? c->root : "/", argument, ret, e);
}

const Verb verbs[] = {
        { "status", NULL, "How the daemon is, and what it did", 0, "GET", "/v1/status", NULL, show_status },
        { "topology", NULL, "Nodes with their CPUs, distances and devices", VERB_POLICY, "GET",
          "/v1/topology", machine_topology, show_topology },
        { "devices", NULL, "Devices with their node, and how many vectors are local", VERB_POLICY, "GET",
          "/v1/devices", machine_devices, show_devices },
        { "device", "ID", "One device with each of its vectors and workqueues", VERB_POLICY, "GET",
          "/v1/devices", machine_device, show_device },
        { "plan", NULL, "What would be changed now, and why; changes nothing", VERB_POLICY, "POST",
          "/v1/plan", machine_plan, show_plan },
        { "apply", "[DEVICE]", "Carry the plan out, and release what restore holds",
          VERB_POLICY | VERB_WRITES, "POST", "/v1/apply", machine_apply, show_applied, results_exit_code },
        { "decisions", NULL, "What was decided for each knob, and what became of it", VERB_POLICY, "GET",
          "/v1/decisions", machine_decisions, show_decisions },
        { "explain", "ID", "One decision: why, by which rule, and its history", VERB_POLICY, "GET",
          "/v1/decisions", machine_decision, show_decision },
        { "measure", "DEVICE", "How often its IOVA caches miss, or where it transmits", VERB_IN_PATH, "POST",
          "/v1/measure", NULL, show_measured },
        { "watch", NULL, "Interrupts per second of each device, again and again", VERB_REPEATS, "GET",
          "/v1/rates", NULL, show_rates },
        { "restore", "[DEVICE]", "Put the first values back, and hold them until apply",
          VERB_POLICY | VERB_WRITES, "POST", "/v1/restore", machine_restore, show_restored,
          results_exit_code },
        { .name = "capture",
          .argument = "FILE",
          .help = "Copy the machine into a tar.zst file, made anonymous",
          .show = show_captured,
          .run = run_capture },
        { 0 },
};

const Verb *verb_find(const char *name)
{
        for (const Verb *v = verbs; v->name; v++)
                if (strcmp(v->name, name) == 0)
                        return v;
        return NULL;
}

static int ask(Ctl *c, const Verb *v, const char *argument, json_t **ret, Error *e)
{
        bool get = strcmp(v->method, "GET") == 0 || v->flags & VERB_IN_PATH;
        _cleanup_(freep) char *part = argument ? client_escape(argument) : strdup(""), *path = NULL;
        json_t *body = NULL;
        int r;

        if (!c->client)
                c->client = client_new(c->socket);
        if (!c->client)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        path = part ? strf(get && argument ? "%s/%s" : "%s", v->path, part) : NULL;
        if (!get && argument)
                body = json_pack("{s:s}", "device", argument);
        if (!path || (!get && argument && !body))
                return error_set(e, -EINVAL, argument, "this is no id, or memory is short");
        r = client_call(c->client, v->method, path, body, ret, e);
        json_decref(body);
        return r;
}

int ctl_fetch(Ctl *c, const Verb *v, const char *argument, json_t **ret, Error *e)
{
        if (v->run)
                return v->run(c, argument, ret, e);
        return c->machine ? v->offline(c->machine, argument, ret, e) : ask(c, v, argument, ret, e);
}

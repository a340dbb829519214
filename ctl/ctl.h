/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>
#include <stdbool.h>

typedef struct Client Client;
typedef struct Machine Machine;
typedef struct Verb Verb;

/* What the command line asks for. */
typedef struct Ctl {
        bool json, changes;
        unsigned interval, count; /* of watch: seconds between two answers, and how many; 0 = for ever */
        const char *socket, *root, *policy;
        Machine *machine; /* with a root alone */
        Client *client;   /* who asks the daemon, since it was asked first */
} Ctl;

typedef enum VerbFlags {
        VERB_WRITES = 1 << 0,  /* changes something: not on a live root */
        VERB_POLICY = 1 << 1,  /* plans, so that --policy makes a difference */
        VERB_REPEATS = 1 << 2, /* asks again and again */
        VERB_IN_PATH = 1 << 3, /* a POST whose argument stands in the path */
} VerbFlags;

struct Verb {
        const char *name;
        const char *argument; /* as shown in the help; "[...]" = may be left out, NULL = none */
        const char *help;
        unsigned flags;
        /* Asks the daemon: the argument, if any, is added to a GET's path, and is the POST's device. */
        const char *method, *path;
        /* Looks at a root instead; NULL = this needs the daemon. */
        int (*offline)(Machine *m, const char *argument, json_t **ret, Error *e);
        /* Prints for people. Returns 0 or a negative errno. */
        int (*show)(Ctl *c, const json_t *answer, Error *e);
        /* The exit code for an answer; NULL = always 0. */
        int (*exit_code)(const json_t *answer);
        /* Does it by itself, on --root or the machine that it runs on; neither daemon nor plan are needed. */
        int (*run)(const Ctl *c, const char *argument, json_t **ret, Error *e);
};

/* The verbs, in the order of the help, ended by a row without name. */
extern const Verb verbs[];
const Verb *verb_find(const char *name);

/* Answers a verb, by the daemon or from the root; the caller releases. */
int ctl_fetch(Ctl *c, const Verb *v, const char *argument, json_t **ret, Error *e);

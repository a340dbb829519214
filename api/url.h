/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stddef.h>

#define URL_PARAMETERS_MAX 16

typedef struct UrlParameter {
        const char *name, *value;
} UrlParameter;

/* A request's target, decoded. */
typedef struct Url {
        char *path;
        char *query; /* what the parameters point into */
        UrlParameter parameters[URL_PARAMETERS_MAX];
        size_t n_parameters;
} Url;

/* Parses the target of a request line as it came ("/v1/devices/pci%3A0000:21:00.0?node=1"). Returns 0,
 * -ENOMEM, or -EINVAL for what is no absolute path, a wrong percent-encoding, an encoded NUL or slash (they
 * would make another path of it), and too many parameters. *ret is to be cleared also on failure. */
int url_parse(const char *target, Url *ret);
void url_clear(Url *u);

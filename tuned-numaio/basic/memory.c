/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/memory.h"

#include "basic/cleanup.h"
#include "basic/log.h"

#include <jansson.h>

static void *allocate(size_t size)
{
        void *p = malloc(size ? size : 1);

        if (p)
                return p;
        log_error("out of memory");
        _exit(EXIT_FAILURE);
}

void memory_guard_json(void)
{
        json_set_alloc_funcs(allocate, free);
}

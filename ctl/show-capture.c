/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/show.h"
#include "ctl/table.h"

#include <stdio.h>
#include <string.h>

#define UNREADABLE_MOST 10

static void print_replaced(FILE *f, const json_t *answer)
{
        const char *kind, *separator = "";
        const json_t *number;

        fputs("Replaced: ", f);
        json_object_foreach((json_t *)json_at(answer, "replaced"), kind, number)
        {
                if (json_integer_value(number) == 0)
                        continue;
                fprintf(f, "%s%s (%lld)", separator, kind, (long long)json_integer_value(number));
                separator = ", ";
        }
        fprintf(f, "%s.\n", *separator ? "" : "nothing");
}

static void print_unreadable(FILE *f, const json_t *answer)
{
        const json_t *list = json_at(answer, "unreadable"), *item;
        size_t i, n = json_array_size(list);

        if (n == 0)
                return;
        fprintf(f, "Could not be read and are not in it: %zu files. Try it as root.\n", n);
        json_array_foreach(list, i, item)
        {
                if (i == UNREADABLE_MOST) {
                        fputs("  ... the others are listed in its MANIFEST\n", f);
                        break;
                }
                fprintf(f, "  %s (%s)\n", json_text_at(item, "path"), json_text_at(item, "error"));
        }
}

int show_captured(Ctl *c, const json_t *answer, Error *e)
{
        const char *file = json_text_at(answer, "file");
        bool piped = strcmp(file, "-") == 0;
        FILE *f = piped ? stderr : stdout;

        fprintf(f, "%s: %ld files, %ld bytes.\n", piped ? "standard output" : file,
                json_number_at(answer, "files"), json_number_at(answer, "bytes"));
        print_replaced(f, answer);
        print_unreadable(f, answer);
        if (!piped)
                fprintf(f, "Look into it before you send it: tar --zstd -xf %s\n", file);
        return 0;
}

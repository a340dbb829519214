/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stands in the place of a program for another machine and runs it: by QEMU, with the loader and the
 * libraries of the sysroot. tests/cross/make says where these are. Linked statically, so that LD_PRELOAD
 * reaches the program alone. */

int main(int argc, char **argv)
{
        char *start[] = { QEMU, LOADER, "--argv0", argv[0], "--library-path", LIBRARIES, PROGRAM };
        char **words = calloc(sizeof(start) / sizeof(*start) + (size_t)argc, sizeof(*words));

        if (words) {
                memcpy(words, start, sizeof(start));
                for (int i = 1; i < argc; i++)
                        words[sizeof(start) / sizeof(*start) - 1 + (size_t)i] = argv[i];
                execv(QEMU, words);
        }
        fprintf(stderr, "%s: %s\n", QEMU, strerror(errno));
        return 127;
}

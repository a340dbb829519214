/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "basic/cleanup.h"
#include "basic/strv.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

/* Runs a fuzz target over a folder of inputs, as a regression test: PROGRAM FOLDER. */

#define INPUT_MAX (4ul * 1024ul * 1024ul)

static int run_file(const char *path)
{
        _cleanup_(fclosep) FILE *f = fopen(path, "re");
        _cleanup_(freep) uint8_t *data = NULL, *exact = NULL;
        size_t n;

        if (!f)
                return -errno;
        data = malloc(INPUT_MAX);
        if (!data)
                return -ENOMEM;
        n = fread(data, 1, INPUT_MAX, f);
        if (ferror(f))
                return -EIO;
        /* Exactly as long as the input, so that sanitizers see a read behind it. */
        exact = malloc(n > 0 ? n : 1);
        if (!exact)
                return -ENOMEM;
        memcpy(exact, data, n);
        printf("%s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(exact, n);
        return 0;
}

static int run_folder(const char *folder)
{
        DIR *d = opendir(folder);
        struct dirent *e;
        int n = 0;

        if (!d)
                return -errno;
        while ((e = readdir(d))) {
                _cleanup_(freep) char *path = strf("%s/%s", folder, e->d_name);
                int r;

                if (e->d_name[0] == '.')
                        continue;
                r = path ? run_file(path) : -ENOMEM;
                if (r < 0) {
                        n = r;
                        break;
                }
                n++;
        }
        closedir(d);
        return n;
}

int main(int argc, char **argv)
{
        int n = argc == 2 ? run_folder(argv[1]) : -EINVAL;

        if (n <= 0) {
                fprintf(stderr, "%s: %s\n", argc == 2 ? argv[1] : "needs one folder",
                        n == 0 ? "no input" : strerror(-n));
                return EXIT_FAILURE;
        }
        printf("%d inputs\n", n);
        return EXIT_SUCCESS;
}

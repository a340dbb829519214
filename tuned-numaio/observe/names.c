/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/names.h"

#include "basic/parse.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

bool name_number(const char *name, const char *prefix, unsigned *ret)
{
        size_t n = strlen(prefix);
        unsigned value;

        if (strncmp(name, prefix, n) != 0 || !isdigit((unsigned char)name[n]))
                return false;
        if (parse_unsigned(name + n, &value) < 0)
                return false;
        if (ret)
                *ret = value;
        return true;
}

static size_t hex_run(const char *s, size_t least, size_t most, uint64_t *ret)
{
        uint64_t value = 0;
        size_t n = 0;

        while (n < most && isxdigit((unsigned char)s[n])) {
                unsigned char c = (unsigned char)tolower((unsigned char)s[n++]);

                value = value << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
        }
        *ret = value;
        return n >= least ? n : 0;
}

size_t pci_address(const char *s, uint64_t *ret)
{
        uint64_t domain, bus, device;
        size_t n = hex_run(s, 4, 8, &domain), k;

        if (n == 0 || s[n] != ':')
                return 0;
        k = hex_run(s + ++n, 2, 2, &bus);
        if (k == 0 || s[n += k] != ':')
                return 0;
        k = hex_run(s + ++n, 2, 2, &device);
        if (k == 0 || device > 31 || s[n += k] != '.')
                return 0;
        if (s[++n] < '0' || s[n] > '7')
                return 0;
        if (ret)
                *ret = domain << 16 | bus << 8 | device << 3 | (uint64_t)(s[n] - '0');
        return n + 1;
}

bool pci_of_path(const char *path, char ret[PCI_ADDRESS_SIZE])
{
        const char *found = NULL;
        size_t length = 0;

        for (const char *p = path; p; p = strchr(p, '/')) {
                size_t n;

                p += *p == '/';
                n = pci_address(p, NULL);
                if (n == 0 || (p[n] != '/' && p[n] != '\0'))
                        continue;
                found = p;
                length = n;
        }
        if (!found || length >= PCI_ADDRESS_SIZE)
                return false;
        memcpy(ret, found, length);
        ret[length] = '\0';
        return true;
}

int path_number(const char *path, const char *prefix)
{
        for (const char *p = path; p; p = strchr(p, '/')) {
                char name[64];
                unsigned number;
                size_t n;

                p += *p == '/';
                n = strcspn(p, "/");
                if (n >= sizeof(name))
                        continue;
                memcpy(name, p, n);
                name[n] = '\0';
                if (name_number(name, prefix, &number))
                        return (int)number;
        }
        return -1;
}

int class_walk(const Root *root, const char *class, ClassVisit visit, void *context)
{
        Strv names = { 0 };
        int r;

        r = root_list(root, &names, "sys/class/%s", class);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(freep) char *path = NULL;

                if (root_realpath(root, &path, "sys/class/%s/%s", class, names.items[i]) >= 0)
                        r = visit(context, names.items[i], path);
        }
        strv_clear(&names);
        return r < 0 ? r : 0;
}

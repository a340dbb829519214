/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "basic/array.h"
#include "observe/interrupts.h"
#include "observe/role.h"

#include <string.h>

/* The text of /proc/interrupts. Whatever it is: lines are in order and whole, their
 * strings are no longer than the text, and a device with these actions gets a role for each vector and keys
 * that differ. */

static void check_lines(const Interrupts *i, size_t size)
{
        for (size_t k = 0; k < i->n_lines; k++) {
                const InterruptLine *line = &i->lines[k];

                FUZZ_REQUIRE(k == 0 || i->lines[k - 1].irq <= line->irq);
                FUZZ_REQUIRE(strlen(line->chip) + strlen(line->hwirq) + strlen(line->action) <= size);
                FUZZ_REQUIRE(!strchr(line->action, '\n'));
                FUZZ_REQUIRE(interrupts_find(i, line->irq)->irq == line->irq);
        }
}

static void check_names(const Device *d)
{
        for (size_t k = 0; k < d->n_vectors; k++) {
                const Vector *v = &d->vectors[k];

                FUZZ_REQUIRE(v->key && *v->key);
                FUZZ_REQUIRE((v->role == VECTOR_SLOW) == (v->queue == -1));
                for (size_t j = 0; j < k && k < 64; j++)
                        FUZZ_REQUIRE(strcmp(d->vectors[j].key, v->key) != 0);
        }
}

static int make_device(const Interrupts *i, Device *d)
{
        static const char *const drivers[] = { "nvme", "r8125", "ixgbe" };

        d->driver = strdup(drivers[i->n_lines % ARRAY_SIZE(drivers)]);
        if (!d->driver || strv_add(&d->netdevs, "eth0") < 0 || strv_add(&d->netdevs, "admin") < 0)
                return -1;
        for (size_t k = 0; k < i->n_lines && k < 4096; k++) {
                Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);

                if (!v)
                        return -1;
                v->irq = i->lines[k].irq;
                v->action = strdup(i->lines[k].action);
                if (!v->action)
                        return -1;
        }
        return vectors_name(d, d->n_vectors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *text = malloc(size + 1);
        Interrupts i = { 0 };
        Device d = { 0 };

        if (!text)
                return 0;
        if (size > 0)
                memcpy(text, data, size);
        text[size] = '\0';
        if (interrupts_parse(text, &i) < 0)
                return 0;
        check_lines(&i, size);
        if (make_device(&i, &d) >= 0)
                check_names(&d);
        device_clear(&d);
        interrupts_clear(&i);
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/interrupts.h"

#include "basic/array.h"
#include "observe/names.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

void interrupts_clear(Interrupts *i)
{
        for (size_t k = 0; k < i->n_lines; k++)
                free(i->lines[k].text);
        free(i->lines);
        *i = (Interrupts) { 0 };
}

static char *skip_space(char *s)
{
        return s + strspn(s, " \t");
}

static char *skip_word(char *s)
{
        return s + strcspn(s, " \t");
}

/* Cuts the string before its trailing white space. */
static void trim(char *s)
{
        size_t n = strlen(s);

        while (n > 0 && isspace((unsigned char)s[n - 1]))
                s[--n] = '\0';
}

static unsigned count_columns(const char *header)
{
        unsigned n = 0;

        for (const char *p = strstr(header, "CPU"); p; p = strstr(p + 3, "CPU"))
                n++;
        return n;
}

/* "12582912-edge", "65537": a number alone or with the flow type. */
static bool is_hwirq(const char *word)
{
        size_t digits = strspn(word, "0123456789"), n = strcspn(word, " \t");

        return digits > 0 &&
               (digits == n || (word[digits] == '-' && isalpha((unsigned char)word[digits + 1])));
}

/* After a bare number the trigger is a word of its own. */
static char *skip_trigger(char *s)
{
        char *word = skip_space(s);
        size_t n = strcspn(word, " \t");

        if ((n == 4 && strncmp(word, "Edge", n) == 0) || (n == 5 && strncmp(word, "Level", n) == 0))
                return word + n;
        return *word == '-' && isalpha((unsigned char)word[1]) ? word + n : s;
}

/* Kernels from 6.2 on end the chip's name with the function. */
static bool function_of_chip(const char *chip, uint64_t *ret)
{
        for (const char *p = strchr(chip, '-'); p; p = strchr(p + 1, '-')) {
                size_t n = pci_address(p + 1, ret);

                if (n > 0 && p[n + 1] == '\0')
                        return true;
        }
        return false;
}

/* Before, the hwirq was domain << 27 | bus, device, function << 11 | index: pci_msi_domain_calc_hwirq() in
 * drivers/pci/msi/irqdomain.c. Hyper-V, XIVE, GIC and others number in ways of their own. */
static bool function_of_hwirq(const char *chip, const char *hwirq, uint64_t *ret)
{
        bool pci = strstr(chip, "PCI-MSI") || strncmp(chip, "ITS-MSI", 7) == 0;
        unsigned long long value = strtoull(hwirq, NULL, 10);

        if (!pci || !isdigit((unsigned char)*hwirq))
                return false;
        *ret = (value >> 27) << 16 | (value >> 11 & 0xffff);
        return true;
}

/* Parses what stands after the counts: "CHIP HWIRQ-TRIGGER  ACTION, ACTION". */
static void parse_rest(char *rest, InterruptLine *line)
{
        char *word = skip_word(rest), *end = word;

        while (*word && !is_hwirq(skip_space(word)))
                word = skip_word(skip_space(word));
        if (*word) {
                char *hwirq = skip_space(word), *after = skip_trigger(skip_word(hwirq));

                line->action = skip_space(after);
                *word = '\0';
                *after = '\0';
                line->hwirq = hwirq;
                if (line->action == after) /* no action: the line ends here */
                        line->action = "";
        } else {
                /* No hwirq: Linux 3.x ("PCI-MSI-edge      eth0"), Xen ("xen-dyn    -event     eth0"), s390.
                 */
                line->action = skip_space(skip_trigger(end));
                if (*end)
                        *end = '\0';
                line->hwirq = "";
        }
        line->chip = rest;
        trim(rest);
        line->has_function = function_of_chip(rest, &line->function) ||
                             function_of_hwirq(rest, line->hwirq, &line->function);
}

/* What stands after so many counts; a row may hold fewer. */
static char *skip_counts(char *s, unsigned columns)
{
        s = skip_space(s);
        for (unsigned c = 0; c < columns; c++) {
                char *end = s;

                while (isdigit((unsigned char)*end))
                        end++;
                if (end == s || (*end && !isspace((unsigned char)*end)))
                        break;
                for (s = end; *s == ' ' || *s == '\t';)
                        s++;
        }
        return s;
}

typedef struct Parser {
        Interrupts *interrupts;
        bool have_header;
        unsigned columns;
} Parser;

static int parse_line(Parser *p, char *s)
{
        InterruptLine *line;
        unsigned long irq;
        char *end;

        s = skip_space(s);
        if (!isdigit((unsigned char)*s))
                return 0;
        irq = strtoul(s, &end, 10);
        if (*end != ':' || irq > UINT32_MAX)
                return 0;
        s = skip_counts(end + 1, p->columns);
        if (!*s)
                return 0;
        line = ARRAY_APPEND(p->interrupts->lines, p->interrupts->n_lines);
        if (!line)
                return -ENOMEM;
        line->irq = (unsigned)irq;
        trim(s);
        line->text = strdup(s);
        if (!line->text) {
                p->interrupts->n_lines--;
                return -ENOMEM;
        }
        parse_rest(line->text, line);
        return 0;
}

static int take_line(void *userdata, char *s)
{
        Parser *p = userdata;

        if (p->have_header)
                return parse_line(p, s);
        p->have_header = *s != '\0';
        p->columns = count_columns(s);
        return 0;
}

static int compare(const void *a, const void *b)
{
        unsigned x = ((const InterruptLine *)a)->irq, y = ((const InterruptLine *)b)->irq;

        return x < y ? -1 : x > y;
}

/* Hands out what was found, or clears it. */
static int finish(Interrupts *i, int r, Interrupts *ret)
{
        if (r < 0) {
                interrupts_clear(i);
                return r;
        }
        if (i->n_lines > 1)
                qsort(i->lines, i->n_lines, sizeof(*i->lines), compare);
        *ret = *i;
        return 0;
}

int interrupts_read(const Root *root, Interrupts *ret)
{
        Interrupts i = { 0 };
        Parser p = { .interrupts = &i };
        int r = root_read_lines(root, take_line, &p, "proc/interrupts");

        return finish(&i, r, ret);
}

int interrupts_parse(char *text, Interrupts *ret)
{
        Interrupts i = { 0 };
        Parser p = { .interrupts = &i };
        char *rest = text, *s;
        int r = 0;

        while (r >= 0 && (s = strsep(&rest, "\n")))
                r = take_line(&p, s);
        free(text);
        return finish(&i, r, ret);
}

const InterruptLine *interrupts_find(const Interrupts *i, unsigned irq)
{
        InterruptLine key = { .irq = irq };

        return i->n_lines ? bsearch(&key, i->lines, i->n_lines, sizeof(*i->lines), compare) : NULL;
}

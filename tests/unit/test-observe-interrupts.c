/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"
#include "observe/interrupts.h"
#include "observe/names.h"

#include <stdio.h>
#include <string.h>

/* Parses one row of a machine with two CPUs. */
static void check(const char *row, const char *chip, const char *hwirq, const char *action,
                  const char *function)
{
        Interrupts i = { 0 };
        char text[512];
        uint64_t want = 0;

        snprintf(text, sizeof(text),
                 "           CPU0       CPU1       \n%s\nNMI:   0  0  Non-maskable interrupts\n", row);
        assert_int_equal(interrupts_parse(strdup(text), &i), 0);
        assert_int_equal(i.n_lines, 1);
        assert_string_equal(i.lines[0].chip, chip);
        assert_string_equal(i.lines[0].hwirq, hwirq);
        assert_string_equal(i.lines[0].action, action);
        assert_int_equal(i.lines[0].has_function, function != NULL);
        if (function) {
                assert_int_not_equal(pci_address(function, &want), 0);
                assert_int_equal(i.lines[0].function, want);
        }
        interrupts_clear(&i);
}

static void the_forms_of_a_line(void **state)
{
        /* up to 6.1: the hwirq holds the function */
        check(" 45:  12  0  IR-PCI-MSI 12582912-edge      megasas", "IR-PCI-MSI", "12582912-edge", "megasas",
              "0000:18:00.0");
        check(" 53:  1  2   ITS-MSI 65537 Edge      nvme0q1", "ITS-MSI", "65537 Edge", "nvme0q1",
              "0000:00:04.0");
        check("224:  1  2   ITS-MSI 570949632 Edge      enP4p65s0-0", "ITS-MSI", "570949632 Edge",
              "enP4p65s0-0", "0004:41:00.0");
        /* from 6.2 on: the chip does */
        check(" 69:  1  2  IR-PCI-MSIX-0000:18:00.0    0-edge      megasas1-msix0",
              "IR-PCI-MSIX-0000:18:00.0", "0-edge", "megasas1-msix0", "0000:18:00.0");
        /* 3.x fuses chip and trigger */
        check(" 33:  1  2  IR-PCI-MSI-edge      mpt3sas0-msix0", "IR-PCI-MSI-edge", "", "mpt3sas0-msix0",
              NULL);
        check("113:  1  2  xen-dyn-event     blkif", "xen-dyn-event", "", "blkif", NULL);
        /* Xen: the trigger is a word of its own, with and without a number before it */
        check("114:  1  2  xen-dyn    -event     eth0-q0-tx", "xen-dyn", "", "eth0-q0-tx", NULL);
        check("115:  1  2  xen-pirq 16  -ioapic-level  eth0, uhci", "xen-pirq", "16  -ioapic-level",
              "eth0, uhci", NULL);
        /* chips with spaces; numbers that are no function */
        check(" 32:  1  2  Hyper-V PCIe MSI 2147483648-edge      mana_hwc@pci:7870:00:00.0",
              "Hyper-V PCIe MSI", "2147483648-edge", "mana_hwc@pci:7870:00:00.0", NULL);
        check(" 46:  1  2  Altera PCIe MSI 524289 Edge      nvme0q1", "Altera PCIe MSI", "524289 Edge",
              "nvme0q1", NULL);
        check(" 18:  1  2  XIVE-IRQ 4609 Level     virtio3, virtio0, virtio2", "XIVE-IRQ", "4609 Level",
              "virtio3, virtio0, virtio2", NULL);
        check(" 10:  1  2     GICv3  69 Level     32c00000.mailbox thr_011", "GICv3", "69 Level",
              "32c00000.mailbox thr_011", NULL);
        /* chips that begin with digits are no counts */
        check("137:  1  2  48059000.gpio   6 Level     ads7846", "48059000.gpio", "6 Level", "ads7846", NULL);
        check("138:  1  2  48059000.gpio   7 Edge      1-0020", "48059000.gpio", "7 Edge", "1-0020", NULL);
        /* no action at all */
        check(" 30:  1  2  IR-PCI-MSI 524288-edge", "IR-PCI-MSI", "524288-edge", "", "0000:01:00.0");
        /* more CPUs in the row than in the head, as while one comes online, are part of nothing */
        check("  9:  1  2  IO-APIC   9-fasteoi   acpi", "IO-APIC", "9-fasteoi", "acpi", NULL);
}

static void rows_that_are_no_interrupts(void **state)
{
        Interrupts i = { 0 };
        char text[] = "            CPU0\n"
                      "IPI0:2768808080  Rescheduling interrupts\n"
                      "ERR:          0\n"
                      "VPMI:         3\n"
                      "  7:          5  IO-APIC   7-edge      parport0\n"
                      "  3:          5  IO-APIC   3-edge\n"
                      "  8:\n"
                      "99999999999:   1  x  y\n"
                      " :\n"
                      "\n";

        assert_int_equal(interrupts_parse(strdup(text), &i), 0);
        assert_int_equal(i.n_lines, 2);
        assert_int_equal(i.lines[0].irq, 3);
        assert_non_null(interrupts_find(&i, 7));
        assert_null(interrupts_find(&i, 8));
        interrupts_clear(&i);
        assert_int_equal(interrupts_parse(strdup(""), &i), 0);
        assert_int_equal(i.n_lines, 0);
        assert_null(interrupts_find(&i, 7));
        interrupts_clear(&i);
}

static void a_thousand_cpus(void **state)
{
        const unsigned cpus = 1100;
        char *text = malloc(cpus * 40), *p = text;
        Interrupts i = { 0 };
        Machine m;

        assert_non_null(text);
        for (unsigned cpu = 0; cpu < cpus; cpu++)
                p += sprintf(p, " CPU%u", cpu);
        p += sprintf(p, "\n 200:");
        for (unsigned cpu = 0; cpu < cpus; cpu++)
                p += sprintf(p, " %10u", cpu);
        sprintf(p, "  IR-PCI-MSI 71827457-edge      nvme0q1\n");
        assert_int_equal(machine_init(&m), 0);
        machine_put(&m, "proc/interrupts", text);
        assert_int_equal(interrupts_parse(text, &i), 0);
        assert_int_equal(i.n_lines, 1);
        assert_string_equal(i.lines[0].chip, "IR-PCI-MSI");
        assert_string_equal(i.lines[0].action, "nvme0q1");
        interrupts_clear(&i);
        assert_int_equal(interrupts_read(m.root, &i), 0);
        assert_int_equal(i.n_lines, 1);
        assert_string_equal(i.lines[0].hwirq, "71827457-edge");
        assert_string_equal(i.lines[0].action, "nvme0q1");
        interrupts_clear(&i);
        machine_done(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_forms_of_a_line),
                cmocka_unit_test(rows_that_are_no_interrupts),
                cmocka_unit_test(a_thousand_cpus),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/log.h"

#include "basic/parse.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

static bool stderr_is_journal(void)
{
        const char *e = getenv("JOURNAL_STREAM");
        unsigned long long dev, ino;
        struct stat st;

        if (!e || sscanf(e, "%llu:%llu", &dev, &ino) != 2 || fstat(STDERR_FILENO, &st) < 0)
                return false;
        return st.st_dev == dev && st.st_ino == ino;
}

static int max_level(void)
{
        static const char *const names[] = { "emerg",   "alert",  "crit", "err",
                                             "warning", "notice", "info", "debug" };
        const char *e = getenv("NUMAIO_LOG_LEVEL");
        unsigned v;

        if (!e)
                return LOG_INFO;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(e, names[i]) == 0)
                        return (int)i;
        return parse_unsigned(e, &v) == 0 && v <= LOG_DEBUG ? (int)v : LOG_INFO;
}

#define N_FIELDS 10

static void add_field(struct iovec *iov, size_t *n, char **texts, const char *name, const char *value)
{
        if (!value || asprintf(&texts[*n], "%s=%s", name, value) < 0)
                return;
        iov[*n] = (struct iovec) { texts[*n], strlen(texts[*n]) };
        (*n)++;
}

static void send_to_journal(int level, const LogKnob *k, const char *message)
{
        struct iovec iov[N_FIELDS];
        char *texts[N_FIELDS] = { 0 };
        char number[16];
        size_t n = 0;

        snprintf(number, sizeof(number), "%d", level);
        add_field(iov, &n, texts, "MESSAGE", message);
        add_field(iov, &n, texts, "PRIORITY", number);
        if (k) {
                add_field(iov, &n, texts, "MESSAGE_ID", k->message_id);
                add_field(iov, &n, texts, "NUMAIO_DEVICE", k->device);
                add_field(iov, &n, texts, "NUMAIO_KNOB", k->knob);
                add_field(iov, &n, texts, "NUMAIO_PATH", k->path);
                add_field(iov, &n, texts, "NUMAIO_OLD", k->old_value);
                add_field(iov, &n, texts, "NUMAIO_NEW", k->new_value);
                add_field(iov, &n, texts, "NUMAIO_RULE", k->rule);
                snprintf(number, sizeof(number), "%d", -k->error);
                add_field(iov, &n, texts, "ERRNO", k->error ? number : NULL);
        }
        if (n > 0)
                (void)sd_journal_sendv(iov, (int)n);
        else
                fprintf(stderr, "%s\n", message); /* memory is short */
        for (size_t i = 0; i < n; i++)
                free(texts[i]);
}

static void _printf_(3, 0) log_valist(int level, const LogKnob *k, const char *format, va_list ap)
{
        char message[2048];

        if (level > max_level())
                return;
        vsnprintf(message, sizeof(message), format, ap);
        if (stderr_is_journal())
                send_to_journal(level, k, message);
        else
                fprintf(stderr, "%s\n", message);
}

void log_line(int level, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        log_valist(level, NULL, format, ap);
        va_end(ap);
}

void log_knob(int level, const LogKnob *knob, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        log_valist(level, knob, format, ap);
        va_end(ap);
}

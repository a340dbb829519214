/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "desk.h"
#include "land.h"

#include "basic/cleanup.h"

#include <errno.h>

/* A main process that fell to an attacker: any messages to the writer in any order, between what the kernel
 * and others do. What must hold is in desk.h. */

#define STEPS_MAX 64

static const char *const devices[] = { "pci:0000:21:00.0", "iscsi:tcp:iqn.2003-01.org", "wq:nvme-wq",
                                       "pci:0000:22:00.0", "pci:0000:23:00.0",          "pci:.." };
static const char *const ids[] = { "pci:0000:21:00.0~irq.affinity~q0", "" };
static const char *const values[] = {
        "3",    "0-7", "4-5", "0,1,2,3-7",         "0", "00000000", "ff", "30", "00000001,ffffffff",
        "1ff0", "",    "1\n", "0,00000000,000000", "8", "65535",
};

static const char *const bans[] = { "", "4,24-31", "0", "30", "4-2", "1-70000", "9,8" };

static const char *const queues[] = { "iscsi_q_0",        "iscsi_q_12", "iscsi_q_", "iscsi_q_012",
                                      "iscsi_q_1\" || 1", "nvme-wq",    "" };

static void word(Code *c, const char *const *words, size_t n, char *room, size_t size)
{
        code_word(c, words, n, room, size);
}

#define WORD(c, words, room) word(c, words, ARRAY_SIZE(words), room, sizeof(room))

static void make_request(Code *c, WriterRequest *q, uint32_t op)
{
        q->version = WRITER_PROTOCOL_VERSION;
        q->op = op;
        q->seq = c->left & 0xff;
        q->kind = code_byte(c);
        code_word(c, land_paths, land_n_paths, q->path, sizeof(q->path));
        if (q->kind >= 0x80) /* what fits the path */
                q->kind = q->path[0] == 's' ? WRITER_WORKQUEUE_CPUMASK : WRITER_IRQ_AFFINITY;
        WORD(c, devices, q->device);
        if (op == WRITER_SET) {
                WORD(c, ids, q->id);
                WORD(c, values, q->value);
        } else if (op == WRITER_BAN)
                WORD(c, bans, q->value);
        else if (op == WRITER_RUNS_BEGIN)
                WORD(c, queues, q->value);
}

/* No message at all. Returns its size. */
static size_t spoil(Code *c, WriterRequest *q)
{
        switch (code_below(c, 7)) {
        case 0:
                q->version = code_byte(c);
                break;
        case 1:
                memset(q->device, 'x', sizeof(q->device));
                break;
        case 2:
                memset(q->id, 'x', sizeof(q->id));
                break;
        case 3:
                memset(q->path, 'x', sizeof(q->path));
                break;
        case 4:
                memset(q->value, '1', sizeof(q->value));
                break;
        case 5:
                return sizeof(*q) - 1 - code_byte(c);
        default:
                return code_byte(c);
        }
        return sizeof(*q);
}

static void send_request(Code *c, Desk *d, uint32_t op, bool by_socket)
{
        _cleanup_(freep) WriterRequest *q = calloc(1, sizeof(*q));

        FUZZ_REQUIRE(q);
        make_request(c, q, op);
        (void)desk_send(d, q, sizeof(*q), by_socket);
}

static void send_nonsense(Code *c, Desk *d)
{
        _cleanup_(freep) WriterRequest *q = calloc(1, sizeof(*q));
        size_t size;

        FUZZ_REQUIRE(q);
        make_request(c, q, code_byte(c));
        size = spoil(c, q);
        (void)desk_send(d, q, size, code_byte(c) & 1);
}

static void choose_answer(Code *c, Desk *d)
{
        static const int errors[] = { EIO, EPERM, EACCES, ENOSPC, EINVAL, EBUSY, ENOENT };
        const DeskAnswer answer = code_below(c, DESK_TAKES_ANOTHER + 1);

        desk_answer(d, answer, -errors[code_below(c, ARRAY_SIZE(errors))]);
}

static void others_act(Code *c, Desk *d)
{
        const unsigned object = code_below(c, DESK_OBJECTS);
        char value[64];

        switch (code_below(c, 4)) {
        case 0:
                desk_replace(d, object);
                break;
        case 1:
                desk_take_away(d, object);
                break;
        default:
                WORD(c, values, value);
                desk_other_value(d, object, value);
        }
}

static void step(Code *c, Desk *d)
{
        const uint8_t what = code_byte(c);

        switch (what % 16) {
        case 0 ... 4:
                send_request(c, d, WRITER_SET, what >= 0x80);
                break;
        case 5 ... 6:
                send_request(c, d, WRITER_RESTORE, what >= 0x80);
                break;
        case 7:
                send_request(c, d, WRITER_HOLD, what >= 0x80);
                break;
        case 8:
                send_request(c, d, WRITER_RELEASE, what >= 0x80);
                break;
        case 9:
                send_request(c, d, WRITER_LIST, false);
                break;
        case 10:
                send_request(c, d, code_byte(c), what >= 0x80);
                break;
        case 11:
                send_nonsense(c, d);
                break;
        case 12:
                choose_answer(c, d);
                break;
        case 13:
                send_request(c, d, WRITER_BAN, what >= 0x80);
                break;
        case 14:
                others_act(c, d);
                break;
        default:
                desk_check_reload(d);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        Code c = { data, size };
        Desk *d = desk_get();

        FUZZ_REQUIRE(desk_open(d, NULL) == 0);
        for (int i = 0; c.left > 0 && i < STEPS_MAX; i++)
                step(&c, d);
        desk_check_reload(d);
        desk_check_restore(d);
        desk_check_reload(d);
        return 0;
}

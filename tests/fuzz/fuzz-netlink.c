/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "monitor/ethtool.h"
#include "monitor/iscsi.h"
#include "monitor/rtnl.h"

#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

/* A datagram of notifications. Whatever it is: nothing beyond its end is read, and an event has all of its
 * strings. */

/* The number of the ethtool family in the corpus. */
#define FAMILY 21

static void check(int r, const MonitorEvent *e)
{
        FUZZ_REQUIRE(r <= 1);
        if (r <= 0)
                return;
        FUZZ_REQUIRE(!e->overrun && *e->source && *e->subsystem && *e->action);
        FUZZ_REQUIRE(strlen(e->object) < IFNAMSIZ);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        LinkTable links = { 0 };
        struct nlmsghdr *h;
        int left = (int)size;

        if (size < sizeof(*h) || size > 65536)
                return 0;
        /* Exactly as long as the input, so that a sanitizer sees each byte too many. */
        struct nlmsghdr *buffer = malloc(size);
        if (!buffer)
                return 0;
        memcpy(buffer, data, size);
        for (h = buffer; nlmsg_ok(h, left); h = nlmsg_next(h, &left)) {
                MonitorEvent e = { 0 };

                check(rtnl_parse(&links, h, &e), &e);
                check(ethtool_parse(FAMILY, h, &e), &e);
                check(iscsi_parse(h->nlmsg_type, &e), &e);
        }
        free(buffer);
        link_table_clear(&links);
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/routes.h"

int routes_new(const Root *root, Routes **ret)
{
        return root_is_live(root) ? routes_netlink_new(ret) : routes_file_new(root, ret);
}

Routes *routes_free(Routes *r)
{
        if (r)
                r->ops->free(r);
        return NULL;
}

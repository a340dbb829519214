/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/mhd.h"

#include "config.h"

#include <dlfcn.h>
#include <errno.h>

int mhd_load(Mhd *ret, const char **ret_why)
{
        void *library = dlopen(MHD_LIBRARY, RTLD_NOW | RTLD_NODELETE);
        Mhd m;

        if (!library) {
                *ret_why = dlerror();
                return -ELIBACC;
        }
#define MHD_LOOK_UP(name)                                                \
        m.name = (__typeof__(MHD_##name) *)dlsym(library, "MHD_" #name); \
        if (!m.name) {                                                   \
                *ret_why = dlerror();                                    \
                dlclose(library);                                        \
                return -ELIBACC;                                         \
        }
        MHD_FUNCTIONS(MHD_LOOK_UP)
#undef MHD_LOOK_UP
        *ret = m;
        return 0;
}

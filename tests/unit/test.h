/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What cmocka.h wants to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

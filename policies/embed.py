#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the default policy into a C file: embed.py DEFAULT.yaml OUTPUT.c"""
import sys

source, target = sys.argv[1:]
with open(source, "rb") as f:
    text = f.read()
with open(target, "w") as f:
    f.write("/* Made by embed.py. */\n")
    f.write('#include "policy/internal.h"\n\n')
    f.write("const char policy_default_text[] = {\n")
    for at in range(0, len(text), 16):
        f.write("        " + " ".join(f"{b}," for b in text[at : at + 16]) + "\n")
    f.write("        0,\n};\n\n")
    f.write("const size_t policy_default_size = sizeof(policy_default_text) - 1;\n")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Synthetic machines: from a short TOML page to the files that a kernel shows."""

# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges a plan: by rules that are worked out from the machine itself, and against a golden text."""

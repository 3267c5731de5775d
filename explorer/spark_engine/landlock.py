"""Run a command that can start no other programs than those named: what a guard overlooks still gets no shell.

A script of its own: `python confine.py ALLOWED… -- COMMAND…`. It gives up the right to execute any file that is not
allowed (Linux 5.13 and later: Landlock, for itself and everything it starts), then becomes the command. Where the
kernel has no Landlock it just becomes the command."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# linux/landlock.h; the numbers of the calls are the same on every processor
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ACCESS_EXECUTE = 1
RULE_PATH_BENEATH = 1
ASK_VERSION = 1
PR_SET_NO_NEW_PRIVS = 38


def is_supported() -> bool:
    """Whether this system has Landlock."""
    if not sys.platform.startswith("linux"):
        return False
    version = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    return bool(version > 0)


def execute_only(paths: list[str]) -> bool:
    """Give up executing files but `paths` (files, or folders with what is below them), for good. False where this
    system has no Landlock, or refuses it."""
    if not is_supported():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    attribute = struct.pack("=Q", ACCESS_EXECUTE)
    ruleset = libc.syscall(CREATE_RULESET, attribute, len(attribute), 0)
    if ruleset < 0:
        return False
    for path in paths:
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, struct.pack("=Qi", ACCESS_EXECUTE, file), 0)
        os.close(file)
    restricted = libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return bool(restricted)


if __name__ == "__main__":
    split = sys.argv.index("--")
    execute_only(sys.argv[1:split])
    os.execv(sys.argv[split + 1], sys.argv[split + 1 :])

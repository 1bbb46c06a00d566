"""Whose the program is that is an instance's TPM. It reads what the guest says, so it is root's only where there is nobody else."""

import os
import pwd
from collections.abc import Callable

from attrs import frozen

#: Debian's package swtpm-tools makes the second; the first that is there counts.
OWN_USERS = ("swtpm", "tss")


@frozen
class TpmUser:
    """A user's ids, and the word by which the program becomes him; empty: it stays whose this daemon is."""

    word: str
    uid: int
    gid: int


def account(name: str) -> TpmUser | None:
    """A user of this machine."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return TpmUser(name, found.pw_uid, found.pw_gid)


def tpm_user(run_as: str, known: Callable[[str], TpmUser | None] = account) -> TpmUser:
    """QEMU's own, where it becomes somebody; else the one whom this machine has for TPMs.

    @param run_as: whom QEMU becomes, see `QemuPlan`.
    """
    own = TpmUser("", os.geteuid(), os.getegid())
    if own.uid != 0:
        return own
    uid, numbers, gid = run_as.partition(":")
    if numbers:
        return TpmUser(uid, int(uid), int(gid))
    return next((user for name in ([run_as] if run_as else OWN_USERS) if (user := known(name)) is not None), own)

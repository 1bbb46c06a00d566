"""What the command lines of all daemons have in common."""

import os
from collections.abc import Sequence
from typing import Any

from twisted.python import usage

from ganeti_tx import __version__
from ganeti_tx.model.ip_family import canonical
from ganeti_tx.runtime.addresses import address_of
from ganeti_tx.runtime.names import cluster_family
from ganeti_tx.runtime.paths import Paths


def port_number(text: str) -> int:
    """A TCP or UDP port. @raise ValueError: it is none."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise ValueError(f"{text!r} is not a port: a number from 1 to 65535")
    return int(text)


def address(text: str) -> str:
    """An IP address. @raise ValueError: it is none."""
    try:
        return canonical(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an IP address") from None


def connections(text: str) -> int:
    """How many there may be. @raise ValueError: no number, or none."""
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"{text!r} is not a number of connections; give 1 or more")
    return int(text)


class DaemonOptions(usage.Options):
    """The options of every daemon; each adds its own."""

    optParameters: Sequence[Sequence[Any]] = [
        ["syslog", None, "no", "whether the log goes to syslog too: no or yes"],
    ]
    optFlags: Sequence[Sequence[Any]] = [
        ["debug", "d", "accepted as by Ganeti's daemons; all there is to log is logged without it"],
        ["foreground", "f", "stay in the foreground, and log to standard output"],
        ["no-user-checks", None, "stay the user that it is started by, whoever that is"],
    ]

    def getSynopsis(self) -> str:
        """Called for --help, which is to name the daemon and not twistd."""
        return f"Usage: {self._daemon()} [options]"

    def opt_version(self) -> None:
        """show the version and exit"""
        print(f"{self._daemon()} (ganeti ganeti_tx) {__version__}")
        raise SystemExit(0)

    def opt_help(self) -> None:
        """show this help and exit"""
        print(self)
        raise SystemExit(0)

    opt_V = opt_version
    opt_h = opt_help

    def postOptions(self) -> None:
        """Called when all are read. @raise UsageError: one has a value that cannot be."""
        if self["syslog"] not in ("no", "yes"):
            raise usage.UsageError(
                f"--syslog: {self['syslog']!r} is neither no nor yes; the log file is always written"
            )

    def parseArgs(self, *words: str) -> None:
        """Called with what is not an option. @raise UsageError: there is something."""
        if words:
            raise usage.UsageError(f"{words[0]!r} is no option, and nothing else is understood")

    def _daemon(self) -> str:
        return "DAEMON" if self.parent is None else str(self.parent.subCommand)


class ListeningOptions(DaemonOptions):
    """The options of a daemon that listens where `bind` says: on an address, or on that of a network interface."""

    optParameters = [["interface", "i", None, "listen on the address of this network interface"]]

    def postOptions(self) -> None:
        """@raise UsageError: both are given, or the interface has no address."""
        super().postOptions()
        if self["bind"] is not None and self["interface"] is not None:
            raise usage.UsageError("--bind and --interface both say where to listen; give one of them")
        if self["interface"] is not None:
            try:
                self["bind"] = address_of(self["interface"], cluster_family(Paths.from_environment(os.environ)))
            except OSError as error:
                raise usage.UsageError(f"--interface: {self['interface']} has no address: {error.strerror}")

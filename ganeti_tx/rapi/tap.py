"""`twistd ganeti-rapi`: the options and the service."""

from pathlib import Path
from typing import Any

from twisted.python import usage

from ganeti_tx.rapi.http.connections import MOST
from ganeti_tx.rapi.service import PORT, Settings, real_parts, start
from ganeti_tx.runtime.addresses import address_of
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions, address, port_number
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady


def connections(text: str) -> int:
    """How many there may be. @raise ValueError: no number, or none."""
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"{text!r} is not a number of connections; give 1 or more")
    return int(text)


class Options(DaemonOptions):
    """What the Remote API daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optParameters = [
        ["port", "p", PORT, "the TCP port", port_number],
        ["bind", "b", None, "the address to listen on (default: every one)", address],
        ["interface", "i", None, "listen on the address of this network interface"],
        ["ssl-cert", "C", None, "the certificate and what it was signed by, PEM (default: rapi.pem)"],
        ["ssl-key", "K", None, "its private key, PEM (default: the same file)"],
        [
            "max-clients",
            None,
            MOST,
            "so many connections there may be; one more takes the place of one that rests",
            connections,
        ],
    ]
    optFlags = [
        ["no-ssl", None, "HTTP without TLS; for tests behind nothing but loopback"],
        ["require-authentication", None, "nobody gets in without a password"],
    ]

    def postOptions(self) -> None:
        """@raise UsageError: options that contradict each other, or a value that cannot be."""
        super().postOptions()
        if self["bind"] is not None and self["interface"] is not None:
            raise usage.UsageError("--bind and --interface both say where to listen; give one of them")
        if self["interface"] is not None:
            try:
                self["bind"] = address_of(self["interface"])
            except OSError as error:
                raise usage.UsageError(f"--interface: {self['interface']} has no address: {error.strerror}")

    def settings(self) -> Settings:
        """As the service takes them."""
        return Settings(
            port=self["port"],
            address=self["bind"],
            tls=not self["no-ssl"],
            certificate=path(self["ssl-cert"]),
            key=path(self["ssl-key"]),
            require_authentication=bool(self["require-authentication"]),
            max_clients=self["max-clients"],
        )


def path(text: str | None) -> Path | None:
    """A path that was given."""
    return Path(text) if text else None


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Any:
        return await start(parts, options.settings(), daemon.leave)

    daemon = Daemon("ganeti-rapi", parts.paths, reactor, bring_up)
    return daemon

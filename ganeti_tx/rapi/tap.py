"""`twistd ganeti-rapi`: the options and the service."""

from pathlib import Path
from typing import Any

from ganeti_tx.rapi.http.connections import MOST
from ganeti_tx.rapi.service import PORT, Settings, real_parts, start
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import ListeningOptions, address, connections, port_number
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady


class Options(ListeningOptions):
    """What the Remote API daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optParameters = [
        ["port", "p", PORT, "the TCP port", port_number],
        ["bind", "b", None, "the address to listen on (default: every one)", address],
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

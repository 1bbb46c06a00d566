"""Checks that are all made before anything is done, so that every problem is told at once."""

import errno
import socket
from collections.abc import Callable
from pathlib import Path
from socket import AddressFamily

from attrs import define, field

from ganeti_tx.errors import GanetiError, ResolverError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.runtime.names import resolve_now
from ganeti_tx.runtime.paths import Paths


class BootstrapError(GanetiError):
    """What stands in the way, a line each."""

    def __str__(self) -> str:
        return "\n".join(str(argument) for argument in self.args)


@define
class Problems:
    """Collects what is wrong."""

    found: list[str] = field(factory=list)

    def add(self, problem: str) -> None:
        """One more line."""
        self.found.append(problem)

    def unless(self, fine: bool, problem: str) -> None:
        """A line when it is not fine."""
        if not fine:
            self.add(problem)

    def attempt(self, check: Callable[[], object]) -> None:
        """Run a check that raises what is wrong."""
        try:
            check()
        except GanetiError as error:
            self.add(str(error))

    def stop_if_any(self) -> None:
        """@raise BootstrapError: with every line."""
        if self.found:
            raise BootstrapError(*self.found)


def try_resolve(paths: Paths, problems: Problems, what: str, name: str, family: AddressFamily) -> tuple[str, str]:
    """As `resolve_now`; a name that does not resolve is a problem, and the answer then has no address."""
    try:
        return resolve_now(paths, name, family)
    except ResolverError as error:
        problems.add(f"{what} {name!r} does not resolve: {error}; add it to DNS or to {paths.etc_hosts}")
        return name, ""


def check_address(problems: Problems, what: str, address: str, port: int = NODE_PORT) -> None:
    """The address must be this machine's, and the port on it free."""
    if not address:
        return
    with socket.socket(family_of(address), socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                problems.add(
                    f"{what}: something listens on {host_port(address, port)} already; stop it (ganeti-noded?)"
                )
            else:
                problems.add(f"{what}: {address} is not an address of this machine ({error.strerror})")


def check_writable(problems: Problems, directory: Path) -> None:
    """The directory must be there or be creatable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".ganeti-write-check"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        problems.add(f"cannot write in {directory}: {error.strerror}")

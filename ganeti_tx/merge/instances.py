"""Stopping and starting instances by the commands that an administrator types."""

from collections.abc import Collection, Sequence
from typing import Any

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.remote import ended

#: Seconds that all instances may take.
LIMIT = 6 * 3600.0
MAX_NAMED = 5
FIELDS = ["name", "admin_state", "oper_state"]


def rows(client: Client) -> list[tuple[str, str, bool]]:
    """Each instance with what the administrator wants of it, and whether it runs."""
    found: list[Any] = client.query("instance", FIELDS, None)["data"]
    return [(name, admin, oper is True) for (_, name), (_, admin), (_, oper) in found]


def in_service(client: Client) -> list[str]:
    """Those that run, or shall."""
    return [name for name, admin, runs in rows(client) if admin == "up" or runs]


def stop(paths: Paths, names: Sequence[str]) -> None:
    """Stop these, after which none runs. @raise GanetiError: some do."""
    command("shutdown", names, "--ignore-offline")
    with Client(str(paths.query_socket)) as client:
        left = in_service(client)
    if left:
        raise GanetiError(f"{len(left)} instance(s) still run: {', '.join(left[:MAX_NAMED])}")


def start(names: Collection[str]) -> None:
    """@raise GanetiError: some do not come up"""
    command("startup", sorted(names))


def command(verb: str, names: Sequence[str], *options: str) -> None:
    """@raise GanetiError: with what it said"""
    if not names:
        return
    done = ended([own_program("gnt-instance"), verb, "--force-multiple", *options, "--", *names], LIMIT)
    if done.returncode != 0:
        raise GanetiError(f"gnt-instance {verb}: {(done.stderr or done.stdout).strip()}")

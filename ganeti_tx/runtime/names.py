"""Names to addresses for who may wait: the node's own hosts file first, then the system's resolver. It imports no Twisted."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from ganeti_tx.errors import ResolverError
from ganeti_tx.model.ip_family import canonical, family_name, family_of_ssconf, is_address, is_of_family
from ganeti_tx.runtime.paths import Paths

HOSTNAME_VARIABLE = "GANETI_HOSTNAME"
MAX_HOSTS_FILE = 4 * 1024 * 1024
MAX_FAMILY_FILE = 100
FAMILY_KEY = "primary_ip_family"


def own_name(environ: Mapping[str, str] = os.environ) -> str:
    """This node's name: GANETI_HOSTNAME, or what the system says."""
    return environ.get(HOSTNAME_VARIABLE) or full_name(socket.gethostname())


def full_name(name: str) -> str:
    """The name with its domain where the system knows it, else the name itself."""
    try:
        found = look_up(name)[0]
    except ResolverError:
        return name
    return found if "." in found else name


def parse_hosts(text: str, family: socket.AddressFamily = socket.AF_UNSPEC) -> dict[str, tuple[str, str]]:
    """Every name of a hosts file with its line's first name and its address; the first line that has a name counts.

    Lines with addresses of another family are none, and neither are those that begin with something else.
    """
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        address, *names = line.split("#", 1)[0].split() or [""]
        if not (is_address(address) and is_of_family(address, family)):
            continue
        for name in names:
            found.setdefault(name.lower(), (names[0], canonical(address)))
    return found


def found_here(name: str, hosts: str, family: socket.AddressFamily) -> tuple[str, str] | None:
    """What needs no asking: an address is its own, and the hosts file knows names.

    @raise ResolverError: it is an address of another family.
    """
    if not is_address(name):
        return parse_hosts(hosts, family).get(name.lower())
    if not is_of_family(name, family):
        raise ResolverError(name, int(socket.EAI_FAMILY), f"it is no {family_name(family)} address")
    return name, canonical(name)


def look_up(name: str, family: socket.AddressFamily = socket.AF_UNSPEC) -> tuple[str, str]:
    """Ask the system; blocks. @raise ResolverError: it knows no such host, or none with an address of the family."""
    try:
        answers = socket.getaddrinfo(name, None, family, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
    except (socket.gaierror, UnicodeError) as error:
        code = error.errno if isinstance(error, socket.gaierror) else None
        why = getattr(error, "strerror", None) or str(error)
        wanted = "" if family == socket.AF_UNSPEC else f"no {family_name(family)} address is known: "
        raise ResolverError(name, code, f"{wanted}{why}") from None
    return answers[0][3] or name, str(answers[0][4][0])


def resolve_now(paths: Paths, name: str, family: socket.AddressFamily | None = None) -> tuple[str, str]:
    """A host's full name and its address; blocks.

    @param family: of the address; None for the cluster's. @raise ResolverError: there is no such host.
    """
    wanted = cluster_family(paths) if family is None else family
    hosts = read(paths.etc_hosts, MAX_HOSTS_FILE)
    return found_here(name, hosts, wanted) or look_up(name, wanted)


def cluster_family(paths: Paths) -> socket.AddressFamily:
    """Of the nodes' primary addresses; either while this node is in no cluster."""
    return family_of_ssconf(read(paths.ssconf_file(FAMILY_KEY), MAX_FAMILY_FILE))


def read(path: Path, limit: int) -> str:
    """The beginning of a file; nothing when there is none."""
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""

"""Names by which something else is meant already: whoever is kept to some instances gives none of them to his own."""

import re
from collections.abc import Iterable

from ganeti_tx.model.lookup import short_names

#: What every machine calls itself, in the files of hosts of Debian and of Red Hat, and all that resolvers take for it (RFC 6761).
_LOCALHOST = re.compile(r"(.*\.)?localhost|localhost[46]?\.localdomain[46]?|localhost[46]|ip6-(localhost|loopback)")
#: As names end that are read as IPv4 addresses, in any of the ways that there are: "127.1" is one, and "0x7f000001".
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")


def hosts_called(names: Iterable[str], hosts: Iterable[str]) -> list[str]:
    """Those of some names that are an address, or by which this machine or one of the hosts is called, in full or not."""
    taken = {called for host in hosts for called in _called(host.lower())}
    return [name for name in names if name.lower() in taken or _is_known(name.lower())]


def meant_by(name: str, others: Iterable[str]) -> list[str]:
    """Those of some other names for which this one is short, or that share a short name with it, which would mean both then."""
    called = {*_called(name.lower())}
    return [
        other for other in others if other.lower() != name.lower() and not called.isdisjoint(short_names(other.lower()))
    ]


def host_refusal(name: str) -> str:
    """Why it is not given."""
    return (
        f"'{name}' is the name of a node or of the cluster, localhost or an address; an instance needs one of its own"
    )


def _is_known(name: str) -> bool:
    """By itself, whatever hosts there are."""
    return bool(_NUMBER.fullmatch(name) or _LOCALHOST.fullmatch(name))


def _called(name: str) -> Iterable[str]:
    return (name, *short_names(name))

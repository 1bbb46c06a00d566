"""gnt-network info: all about networks, with a map of their addresses."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ganeti_tx.cli.network.list import MANY_NETWORKS
from ganeti_tx.cli.options import TREE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.selection import rows_there
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode

FIELDS = (
    "name", "uuid", "serial_no", "network", "gateway", "network6", "gateway6", "mac_prefix", "free_count",
    "reserved_count", "map", "group_list", "inst_list", "external_reservations",
)  # fmt: skip
#: Addresses in a line of the map.
IN_LINE = 64
#: A map of so many lines, that of 4096 addresses, is shown whole, as Ganeti shows each; in longer ones more than so many
#: lines that are alike are folded.
WHOLE = 64
FOLDED = 3
WIDTH = 80

Values = Mapping[str, Any]
#: An instance's name and the addresses that it has in the network, each with the number of its NIC.
Users = Sequence[tuple[str, Sequence[tuple[int, str | None]]]]


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """All about the networks named, or about all."""
    rows = rows_there(session, "network", FIELDS, names)
    networks = [{name: value for name, (_status, value) in zip(FIELDS, row, strict=True)} for row in rows]
    found = [(network, users_of(session, network)) for network in networks]
    text = (line for network, users in found for line in lines(network, users))
    show(session, text, lambda: [value_of_network(network, users) for network, users in found])
    return ExitCode.SUCCESS


def value_of_network(network: Values, users: Users) -> dict[str, Any]:
    """One network for programs, by the names of its fields."""
    return {
        **network,
        "size": network["free_count"] + network["reserved_count"],
        "group_list": [
            dict(zip(("name", "mode", "link", "vlan"), group, strict=True)) for group in network["group_list"]
        ],
        "inst_list": [
            {"name": name, "nics": [{"index": index, "ip": ip} for index, ip in addresses]} for name, addresses in users
        ],
        "external_reservations": (network["external_reservations"] or "").replace(",", " ").split(),
    }


def users_of(session: Session, network: Values) -> Users:
    """Who has NICs in it."""
    if not network["inst_list"]:
        return []
    rows = session.client.query_instances(network["inst_list"], ["name", "nic.ips", "nic.networks"], False)
    return [
        (name, [(index, ips[index]) for index, uuid in enumerate(networks) if uuid == network["uuid"]])
        for name, ips, networks in rows
    ]


def lines(network: Values, users: Users) -> Iterator[str]:
    """One network as text."""
    size = network["free_count"] + network["reserved_count"]
    yield f"Network name: {network['name']}"
    yield f"UUID: {network['uuid']}"
    yield f"Serial number: {network['serial_no']}"
    yield f"  Subnet: {network['network']}"
    yield f"  Gateway: {network['gateway']}"
    yield f"  IPv6 Subnet: {network['network6']}"
    yield f"  IPv6 Gateway: {network['gateway6']}"
    yield f"  Mac Prefix: {network['mac_prefix']}"
    yield f"  Size: {size}"
    yield f"  Free: {network['free_count']} ({100 * network['free_count'] / size:.2f}%)"
    yield "  Usage map:"
    yield from map_lines(network["map"])
    yield from reserved_lines(network["external_reservations"])
    yield from group_lines(network["group_list"])
    yield from user_lines(users)


def map_lines(taken: str) -> Iterator[str]:
    """The map, a line for each 64 addresses, between the numbers of its first and last one.

    In one of more than `WHOLE` lines those between two others that are like them are told by their number.
    """
    rows = [taken[first : first + IN_LINE] for first in range(0, len(taken), IN_LINE)]
    lines = [f"{at * IN_LINE:>9} {row:<{IN_LINE}} {at * IN_LINE + IN_LINE - 1}" for at, row in enumerate(rows)]
    at = 0
    for _, alike in groupby(rows):
        count = len(list(alike))
        run, at = lines[at : at + count], at + count
        if len(rows) > WHOLE and count > FOLDED:
            run[1:-1] = [f"{'*':>9} {count - 2} lines like the one before"]
        yield from run
    yield "         (X) used    (.) free"


def reserved_lines(addresses: str) -> Iterator[str]:
    """The addresses that are kept from instances, as many in a line as have room."""
    if addresses:
        yield "  externally reserved IPs:"
        yield from textwrap.wrap(addresses, WIDTH, initial_indent="    ", subsequent_indent="    ")


def group_lines(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """The groups that have it."""
    if not groups:
        yield "  not connected to any node group"
        return
    yield "  connected to node groups:"
    for name, mode, link, vlan in groups:
        yield f"    {name} (mode:{mode} link:{link} vlan:{vlan})"


def user_lines(users: Users) -> Iterator[str]:
    """The instances that use it."""
    if not users:
        yield "  not used by any instances"
        return
    yield f"  used by {len(users)} instances:"
    for name, addresses in users:
        yield f"    {name}: " + ", ".join(f"{index}:{address}" for index, address in addresses)


INFO = Command(info, MANY_NETWORKS, prints=TREE)

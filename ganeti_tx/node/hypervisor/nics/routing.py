"""The commands for routed interfaces: a route to the guest, a table for what comes from it, and answers in its place.

Neighbours of the node ask for the guest's address where they think that it is, which is where the node itself would look for
it; the guest asks for everybody's. Both are answered by the node (proxy ARP; with IPv6 proxy NDP, which is told each address).
"""

import re
import sys
from collections.abc import Iterator
from socket import AF_INET6

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.node.hypervisor.nics import announcement
from ganeti_tx.node.hypervisor.nics.names import NODE_MAC
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd

_DEVICE = re.compile(r"\bdev (\S+)")
_RULE = re.compile(r"^(\d{1,10}):")
#: What `ip route get` says of an address that no neighbour can have.
_NO_NEIGHBOUR = ("local", "unreachable", "prohibit", "blackhole", "throw")


@frozen
class RoutedEnd:
    """One end with the address behind it; `table` is empty for the main one."""

    interface: str
    address: str
    table: str = ""
    gateway6: str = ""

    @property
    def is_v6(self) -> bool:
        """Of which kind the address is."""
        return family_of(self.address) == AF_INET6

    def ip(self, *words: str) -> list[str]:
        """A command for this kind of addresses."""
        return ["ip", "-6" if self.is_v6 else "-4", *words]

    def look_for_it(self) -> list[str]:
        """What shows where the address would be found without the guest."""
        return self.ip("-o", "route", "get", self.address)

    def outer_interface(self, shown: str) -> str:
        """In what `look_for_it` shows; empty when there is none."""
        found = _DEVICE.search(shown)
        if found is None or shown.startswith(_NO_NEIGHBOUR) or found[1] in ("lo", self.interface):
            return ""
        return found[1]

    def giving_mac(self) -> list[str]:
        """What gives it the addresses by which the guest knows it, before it is up; that of the link follows from the other."""
        kind = ["addrgenmode", "eui64"] if self.is_v6 else []
        return ["ip", "link", "set", "dev", self.interface, "address", NODE_MAC, *kind]

    def argvs(self, outer: str) -> Iterator[list[str]]:
        """All that connects it, but the answers at the interface `outer`; each can be run twice."""
        yield ["ip", "link", "set", "dev", self.interface, "up"]
        proxy = "proxy_ndp" if self.is_v6 else "proxy_arp"
        yield ["sysctl", "-qw", *(self._setting(self.interface, name) for name in ("forwarding", proxy))]
        table = ["table", self.table] if self.table else []
        yield self.ip("route", "replace", self.address, "dev", self.interface, *table)
        if self.table:
            yield self.ip("rule", "add", "iif", self.interface, "lookup", self.table)
        if self.is_v6 and self.gateway6:
            yield self._answer(self.gateway6, self.interface)
        if outer:
            yield from self._answers_at(outer)

    def _answers_at(self, outer: str) -> Iterator[list[str]]:
        if self.is_v6:
            yield ["sysctl", "-qw", self._setting(outer, "proxy_ndp")]
        yield self._answer(self.address, outer)

    def _answer(self, address: str, interface: str) -> list[str]:
        return self.ip("neigh", "replace", "proxy", address, "dev", interface)

    def _setting(self, interface: str, name: str) -> str:
        """With slashes, as there may be dots in the interface's name."""
        return f"net/{'ipv6' if self.is_v6 else 'ipv4'}/conf/{interface}/{name}=1"

    def announcing(self, outer: str) -> list[str]:
        """What tells the neighbours at the interface `outer` that they are answered here."""
        version = announcement.VERSION_6 if self.is_v6 else announcement.VERSION_4
        return [sys.executable, "-I", "-S", announcement.__file__, outer, version, self.address]

    def show_rules(self) -> list[str]:
        """What shows the rules for it."""
        return self.ip("-o", "rule", "show", "iif", self.interface)

    def rule_removals(self, shown: str) -> list[list[str]]:
        """For each in what `show_rules` shows."""
        found = [_RULE.match(line) for line in shown.splitlines()]
        return [self.ip("rule", "del", "pref", each[1], "iif", self.interface) for each in found if each is not None]

    def show_answers(self) -> list[str]:
        """What shows which addresses the node answers for."""
        return self.ip("-o", "neigh", "show", "proxy")

    def answer_removals(self, shown: str) -> list[list[str]]:
        """For its own in what `show_answers` shows, wherever it is answered for."""
        lines = [line.split() for line in shown.splitlines()]
        places = [words[2] for words in lines if words[:2] == [self.address, "dev"] and len(words) > 2]
        return [self.ip("neigh", "del", "proxy", self.address, "dev", place) for place in places]


def routed_end(end: NodeEnd) -> RoutedEnd:
    """Of a routed interface. @raise HypervisorError: it has no address."""
    if not end.ip:
        raise HypervisorError(f"network interface {end.environment['MAC']}: mode routed needs an IP address")
    return RoutedEnd(end.interface, end.ip, end.link.link, end.gateway6)

"""Networks as a resource of queries, with their fields."""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network

from attrs import frozen

from ganeti_tx.model.network import Network
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.language.field import Field, Kind, Need, by_name, computed, maybe, stored, tracking
from ganeti_tx.query.view import View, chosen

TAKEN, FREE = "X", "."


def addresses(network: Network) -> IPv4Network:
    """The range of the network."""
    return IPv4Network(network.network, strict=False)


def bits(bitmap: str | None, size: int) -> str:
    """A bitmap, all free when there is none."""
    return bitmap if bitmap is not None else "0" * size


def taken(network: Network) -> str:
    """One character an address: taken by instances or by others, or free."""
    size = addresses(network).num_addresses
    pairs = zip(bits(network.reservations, size), bits(network.ext_reservations, size), strict=False)
    return "".join(TAKEN if "1" in pair else FREE for pair in pairs)


def external(network: Network) -> str:
    """The addresses taken by others."""
    first = addresses(network).network_address
    bitmap = network.ext_reservations or ""
    return ", ".join(str(first + index) for index, bit in enumerate(bitmap) if bit == "1")


def groups(view: View) -> Callable[[Network], list[list[object]]]:
    """The groups that have the network, each as [name, mode, link, vlan]."""

    def get(network: Network) -> list[list[object]]:
        found: list[list[object]] = []
        for group in view.groups:
            if network.uuid in group.networks:
                params = fill_nicparams(view.cluster, group.networks[network.uuid])
                found.append([group.name, params["mode"], params["link"], params["vlan"]])
        return found

    return get


def group_count(view: View) -> Callable[[Network], int]:
    """The number of groups that have the network."""
    return lambda network: sum(network.uuid in group.networks for group in view.groups)


def instance_names(view: View) -> Callable[[Network], object]:
    """The names of the instances with a NIC in the network."""
    users = view.users
    return lambda network: users.get(network.uuid, ())


def instance_count(view: View) -> Callable[[Network], int]:
    """The number of instances with a NIC in the network."""
    users = view.users
    return lambda network: len(users.get(network.uuid, ()))


NETWORK_FIELDS = by_name(
    [
        stored("name", "Network", Kind.TEXT, "Network name"),
        stored("network", "Subnet", Kind.TEXT, "IPv4 range"),
        maybe("gateway", "Gateway", Kind.OTHER, "IPv4 gateway"),
        maybe("network6", "IPv6Subnet", Kind.OTHER, "IPv6 range"),
        maybe("gateway6", "IPv6Gateway", Kind.OTHER, "IPv6 gateway"),
        maybe("mac_prefix", "MacPrefix", Kind.OTHER, "MAC address prefix"),
        computed("map", "Map", Kind.TEXT, "One character for each address: X taken, . free", taken),
        computed(
            "free_count", "FreeCount", Kind.NUMBER, "Number of free addresses", lambda net: taken(net).count(FREE)
        ),
        computed(
            "reserved_count",
            "ReservedCount",
            Kind.NUMBER,
            "Number of taken addresses",
            lambda net: taken(net).count(TAKEN),
        ),
        computed(
            "external_reservations",
            "ExternalReservations",
            Kind.TEXT,
            "Addresses that are taken by others than instances",
            external,
        ),
        Field("group_cnt", "NodeGroups", Kind.NUMBER, "Number of node groups that have the network", group_count),
        Field(
            "group_list", "GroupList", Kind.OTHER, "Node groups that have the network: name, mode, link, vlan", groups
        ),
        Field("inst_cnt", "Instances", Kind.NUMBER, "Number of instances in the network", instance_count),
        Field("inst_list", "InstanceList", Kind.OTHER, "Names of the instances in the network", instance_names),
    ],
    tracking(),
)


@frozen
class NetworkRows:
    """Rows are networks of the configuration; the context is the view."""

    view: Callable[[], View]
    name_field: str = "name"
    fields: Mapping[str, Field] = NETWORK_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[Network], View]:
        """As Resource.rows says."""
        view = self.view()
        return chosen(view.networks, view.network_names, names, strict), view

    async def collect(self, rows: Sequence[Network], context: View, needs: frozenset[Need]) -> View:
        """Nothing to ask nodes for."""
        return context

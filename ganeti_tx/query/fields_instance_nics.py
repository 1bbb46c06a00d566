"""The fields of instances about network interfaces: one by one, and all in a list."""

from collections.abc import Callable, Sequence

from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.nic import Nic
from ganeti_tx.query.instance_context import InstanceContext
from ganeti_tx.query.language.field import Field, Gives, Kind, computed

#: Interfaces that have fields of their own.
MAX_NICS = 8

OfNic = Callable[[Instance, Nic], object]
BindNic = Callable[[InstanceContext], OfNic]


def attribute(name: str) -> BindNic:
    """What the interface itself holds."""
    return lambda context: lambda instance, nic: getattr(nic, name)


def parameter(name: str) -> BindNic:
    """A filled parameter."""

    def bind(context: InstanceContext) -> OfNic:
        params = context.nicparams()
        return lambda instance, nic: params(instance, nic)[name]

    return bind


def bridge(context: InstanceContext) -> OfNic:
    """The link, when it is a bridge."""
    params = context.nicparams()

    def get(instance: Instance, nic: Nic) -> object:
        filled = params(instance, nic)
        return filled["link"] if filled["mode"] == NicMode.BRIDGED else None

    return get


def network_name(context: InstanceContext) -> OfNic:
    """The name of the network."""
    networks = context.view.config.networks
    return lambda instance, nic: getattr(networks.get(nic.network or ""), "name", None)


def one(bind: BindNic, index: int) -> Callable[[InstanceContext], Callable[[Instance], object]]:
    """The value of one interface; None without that interface."""

    def bound(context: InstanceContext) -> Callable[[Instance], object]:
        get = bind(context)
        return lambda instance: get(instance, instance.nics[index]) if len(instance.nics) > index else None

    return bound


def every(bind: BindNic) -> Callable[[InstanceContext], Callable[[Instance], Sequence[object]]]:
    """The values of all interfaces; None where one has none."""

    def bound(context: InstanceContext) -> Callable[[Instance], Sequence[object]]:
        get = bind(context)
        return lambda instance: [get(instance, nic) for nic in instance.nics]

    return bound


#: Name for one, title for one, name for all, title for all, what it is, how it is read, another name for the first one.
FAMILIES: Sequence[tuple[str, str, str, str, str, BindNic, str]] = (
    ("bridge", "NicBridge", "nic.bridges", "NIC_bridges", "Bridge", bridge, "bridge"),
    ("ip", "NicIP", "nic.ips", "NIC_IPs", "IP address", attribute("ip"), "ip"),
    ("link", "NicLink", "nic.links", "NIC_links", "Link", parameter("link"), "nic_link"),
    ("mac", "NicMAC", "nic.macs", "NIC_MACs", "MAC address", attribute("mac"), "mac"),
    ("mode", "NicMode", "nic.modes", "NIC_modes", "Mode", parameter("mode"), "nic_mode"),
    ("name", "NicName", "nic.names", "NIC_Names", "Name", attribute("name"), ""),
    ("network", "NicNetwork", "nic.networks", "NIC_networks", "Network (uuid)", attribute("network"), "nic_network"),
    (
        "network.name",
        "NicNetworkName",
        "nic.networks.names",
        "NIC_networks_names",
        "Name of the network",
        network_name,
        "",
    ),
    ("uuid", "NicUUID", "nic.uuids", "NIC_UUIDs", "Unique identifier", attribute("uuid"), ""),
    ("vlan", "NicVLAN", "nic.vlans", "NIC_VLANs", "VLAN", parameter("vlan"), ""),
)


def one_field(name: str, title: str, what: str, bind: BindNic, index: int) -> Field:
    """The field of one interface."""
    doc = f"{what} of network interface {index}"
    return Field(name, f"{title}/{index}", Kind.TEXT, doc, one(bind, index), Gives.MAYBE)


def nic_fields() -> list[Field]:
    """All fields of all families."""
    fields = [
        computed("nic.count", "NICs", Kind.NUMBER, "Number of network interfaces", lambda instance: len(instance.nics))
    ]
    for name, title, plural, plural_title, what, bind, alias in FAMILIES:
        fields += [one_field(f"nic.{name}/{index}", title, what, bind, index) for index in range(MAX_NICS)]
        doc = f"{what} of each network interface"
        fields.append(Field(plural, plural_title, Kind.OTHER, doc, every(bind)))
        if alias:
            fields.append(one_field(alias, title, what, bind, 0))
    return fields


NIC_FIELDS = nic_fields()

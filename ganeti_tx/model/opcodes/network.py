"""Opcodes about networks."""

from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.opcodes.addresses import Ip4Address, Ip4Network, Ip6Address, Ip6Network
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty


class OpNetworkAdd(OpCode, tag="OP_NETWORK_ADD"):
    """Make a network with a pool of addresses."""

    summary_field = "network_name"

    network_name: NonEmpty
    network: Ip4Network
    gateway: Ip4Address | None = None
    network6: Ip6Network | None = None
    gateway6: Ip6Address | None = None
    mac_prefix: NonEmpty | None = None
    add_reserved_ips: tuple[Ip4Address, ...] | None = None
    conflicts_check: bool = True
    tags: tuple[NonEmpty, ...] = ()


class OpNetworkRemove(OpCode, tag="OP_NETWORK_REMOVE"):
    """Delete a network that no group is connected to."""

    summary_field = "network_name"

    network_name: NonEmpty
    force: bool = False


class OpNetworkSetParams(OpCode, tag="OP_NETWORK_SET_PARAMS"):
    """Change settings of a network; what is null stays."""

    summary_field = "network_name"

    network_name: NonEmpty
    gateway: Ip4Address | None = None
    network6: Ip6Network | None = None
    gateway6: Ip6Address | None = None
    mac_prefix: NonEmpty | None = None
    add_reserved_ips: tuple[Ip4Address, ...] | None = None
    remove_reserved_ips: tuple[Ip4Address, ...] | None = None


class OpNetworkConnect(OpCode, tag="OP_NETWORK_CONNECT"):
    """Connect a group to a network through a link on its nodes."""

    summary_field = "network_name"

    group_name: NonEmpty
    network_name: NonEmpty
    network_mode: NicMode
    network_link: NonEmpty
    network_vlan: str = ""
    conflicts_check: bool = True


class OpNetworkDisconnect(OpCode, tag="OP_NETWORK_DISCONNECT"):
    """Disconnect a group from a network."""

    summary_field = "network_name"

    group_name: NonEmpty
    network_name: NonEmpty


class OpNetworkRename(OpCode, tag="OP_NETWORK_RENAME"):
    """Give a network another name."""

    summary_field = "network_name"

    network_name: NonEmpty
    new_name: NonEmpty

"""The network interfaces that a request asks for: checked first, made with their addresses later."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.allocator.document import nic_values
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, GenericError, OpPrereqError, ReservationError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.ip_address import v4_inside
from ganeti_tx.model.ip_family import canonical
from ganeti_tx.model.names import check_device_names, check_name
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import POOL, Nic
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.types import NicKey
from ganeti_tx.model.params.kinds import DEFAULT, NONE
from ganeti_tx.model.params.nic import check_nicparams, fill_nicparams, mode_of, typed_nicparams

MAX_NICS = 8
#: The word for what the cluster has, or the name stands for.
AUTO = "auto"
#: What a network's connection says for all interfaces in it.
FROM_NETWORK = (NicKey.MODE, NicKey.LINK, NicKey.BRIDGE, NicKey.VLAN)
#: Words for a MAC address that the cluster shall choose.
CHOSEN = frozenset({AUTO, "generate"})
MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
#: Low bit of the first byte: no card has a multicast address.
MULTICAST = 1


@attrs.frozen(kw_only=True)
class NicPlan:
    """One interface that can be made; without a MAC address it gets one.

    One in a network gets its parameters from there when the node group is known, and its address with `from_pool`.
    """

    mac: str | None
    ip: str | None
    name: str | None
    params: Mapping[str, object]
    network: Network | None = None
    from_pool: bool = False


def plan_nics(
    cluster: Cluster,
    asked: Sequence[Mapping[NicKey, str | None]],
    instance_ip: str | None,
    networks: Mapping[str, Network],
) -> list[NicPlan]:
    """Check what was asked. `instance_ip` is what the instance's name resolves to: the ip "auto" means it.

    @param networks: those that are asked for, by the words for them.
    @raise OpPrereqError: too many interfaces, or something about one of them is not allowed.
    """
    if len(asked) > MAX_NICS:
        raise OpPrereqError(f"{len(asked)} NICs are too many; allowed are {MAX_NICS}", ECode.INVAL)
    plans = [plan_nic(cluster, f"nic/{index}", nic, instance_ip, networks) for index, nic in enumerate(asked)]
    check_device_names("nic", [plan.name for plan in plans])
    return plans


def plan_nic(
    cluster: Cluster,
    what: str,
    asked: Mapping[NicKey, str | None],
    instance_ip: str | None,
    networks: Mapping[str, Network],
) -> NicPlan:
    """Check one interface."""
    network = networks.get(asked.get(NicKey.NETWORK) or NONE)
    from_pool = (asked.get(NicKey.IP) or "").lower() == POOL
    ip = None if from_pool else nic_address(what, asked.get(NicKey.IP), instance_ip)
    name = asked.get(NicKey.NAME)
    return NicPlan(
        mac=nic_mac(what, asked.get(NicKey.MAC)),
        ip=ip,
        name=None if name in (None, "", NONE) else name,
        params=own_params(cluster, what, asked, ip) if network is None else no_params(what, asked),
        network=network,
        from_pool=from_pool,
    )


def own_params(cluster: Cluster, what: str, asked: Mapping[NicKey, str | None], ip: str | None) -> Mapping[str, object]:
    """The parameters of an interface without a network."""
    if (asked.get(NicKey.IP) or "").lower() == POOL:
        raise OpPrereqError(f"{what}: if ip=pool, parameter network must be passed too", ECode.INVAL)
    params = nic_params(what, asked)
    try:
        mode = typed_nicparams(fill_nicparams(cluster, params)).mode
    except GenericError as error:
        raise OpPrereqError(f"{what}: {error}", ECode.INVAL) from None
    if mode == NicMode.POOL:
        raise OpPrereqError(f"{what}: mode pool needs a network", ECode.INVAL)
    if mode == NicMode.ROUTED and ip is None:
        raise OpPrereqError(f"{what}: a routed NIC needs an ip", ECode.INVAL)
    return params


def no_params(what: str, asked: Mapping[NicKey, str | None]) -> Mapping[str, object]:
    """Those of one in a network, which come from there. @raise OpPrereqError: some are given."""
    given = [key.value for key in FROM_NETWORK if asked.get(key) not in (None, DEFAULT)]
    if given and asked.get(NicKey.MODE) != NicMode.POOL.value:
        raise OpPrereqError(
            f"{what}: the network says how its NICs are connected; with network, {', '.join(given)} is not allowed",
            ECode.INVAL,
        )
    return {}


def nic_params(what: str, asked: Mapping[NicKey, str | None]) -> Mapping[str, object]:
    """What differs from the cluster's; bridge is the old word for the link of a bridged interface.

    A bridge "auto" is the cluster's (design-2.0, Network Device Options).
    """
    bridge, link, mode = asked.get(NicKey.BRIDGE), asked.get(NicKey.LINK), mode_of(asked.get(NicKey.MODE) or DEFAULT)
    if bridge is not None and link is not None:
        raise OpPrereqError(f"{what}: bridge and link mean the same; give one of them", ECode.INVAL)
    if bridge is not None and mode not in (DEFAULT, NicMode.BRIDGED.value):
        raise OpPrereqError(f"{what}: bridge goes with mode bridged, not {mode}", ECode.INVAL)
    if bridge is not None:
        link = DEFAULT if bridge.lower() == AUTO else bridge
    if link not in (None, "", DEFAULT):
        check_name(f"{what}: link", link)
    given = {"link": link, "mode": mode, "vlan": asked.get(NicKey.VLAN)}
    try:
        return check_nicparams({name: value for name, value in given.items() if value not in (None, DEFAULT)})
    except GenericError as error:
        raise OpPrereqError(f"{what}: {error}", ECode.INVAL) from None


def nic_address(what: str, asked: str | None, instance_ip: str | None) -> str | None:
    """The IP address of an interface."""
    if asked is None or asked.lower() in ("", NONE):
        return None
    if asked.lower() == AUTO:
        if instance_ip is None:
            raise OpPrereqError(f"{what}: ip auto needs the name check, which finds the address", ECode.INVAL)
        asked = instance_ip
    try:
        if (plain := v4_inside(asked)) is not None:
            raise ValueError(f"{asked} is an IPv4 address written as IPv6; give it as {plain}")
        return canonical(asked)
    except ValueError as error:
        raise OpPrereqError(f"{what}: {error}", ECode.INVAL) from None


def nic_mac(what: str, asked: str | None) -> str | None:
    """The MAC address asked for; None to choose one."""
    if asked is None or asked.lower() in CHOSEN:
        return None
    mac = asked.lower()
    if not MAC.fullmatch(mac) or int(mac[:2], 16) & MULTICAST:
        raise OpPrereqError(
            f"{what}: not a MAC address of a card: {asked!r}; allowed are aa:bb:cc:dd:ee:ff, auto, generate",
            ECode.INVAL,
        )
    return mac


async def reserve_macs(config: IConfig, plans: Sequence[NicPlan], own: Collection[str] = ()) -> None:
    """Claim the given MAC addresses, but those that the instance has already. @raise OpPrereqError: somebody has one."""
    given = [plan.mac for plan in plans if plan.mac is not None]
    for mac in given:
        if given.count(mac) > 1:
            raise OpPrereqError(f"MAC address {mac} is given twice", ECode.NOTUNIQUE)
        if mac in own:
            continue
        try:
            await config.reserve_mac(mac)
        except ReservationError as error:
            raise OpPrereqError(str(error), ECode.NOTUNIQUE) from None


async def make_nics(config: IConfig, plans: Sequence[NicPlan]) -> tuple[Nic, ...]:
    """The interfaces, each with a uuid and a MAC address of its own."""
    return tuple(
        [
            Nic(
                uuid=await config.generate_uuid(),
                mac=plan.mac or await config.generate_mac(network_uuid(plan)),
                nicparams=plan.params,
                ip=plan.ip,
                name=plan.name,
                network=network_uuid(plan),
            )
            for plan in plans
        ]
    )


def network_uuid(plan: NicPlan) -> str | None:
    """The network that it is in."""
    return None if plan.network is None else plan.network.uuid


def nic_entry(cluster: Cluster, plan: NicPlan, among: Sequence[NodeGroup]) -> dict[str, Any]:
    """One interface as an allocator is told of it; which MAC address it gets is not known yet.

    @param among: the groups in one of which it will be.
    """
    mode, link = (in_all(params_among(cluster, plan, among), name) for name in ("mode", "link"))
    return nic_values(plan.mac or AUTO, plan.ip, mode, link, network_uuid(plan))


def params_among(cluster: Cluster, plan: NicPlan, among: Sequence[NodeGroup]) -> list[Params]:
    """Its parameters in each of these groups where it could be: those of a network are the connection's."""
    if plan.network is None:
        return [fill_nicparams(cluster, plan.params)]
    uuid = plan.network.uuid
    return [fill_nicparams(cluster, group.networks[uuid]) for group in among if uuid in group.networks]


def in_all(params: Sequence[Params], name: str) -> str | None:
    """The value of a parameter, if it is the same one everywhere."""
    values = {str(each[name]) for each in params}
    return values.pop() if len(values) == 1 else None

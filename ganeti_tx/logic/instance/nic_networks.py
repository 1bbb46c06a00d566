"""The networks of a new instance's interfaces: found and locked first, joined when its node group is known."""

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, GenericError, OpPrereqError, ReservationError
from ganeti_tx.logic.instance.nics import NicPlan
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.network import Network
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.types import NicKey
from ganeti_tx.model.params.kinds import NONE
from ganeti_tx.model.params.nic import fill_nicparams, typed_nicparams

#: As requests spell a network, to what it is.
Networks = Mapping[str, Network]


async def named_networks(config: IConfig, asked: Sequence[Mapping[NicKey, str | None]]) -> dict[str, Network]:
    """The networks that interfaces are to be in. @raise OpPrereqError: there is none of a name."""
    words = {word for nic in asked if (word := nic.get(NicKey.NETWORK)) not in (None, "", NONE)}
    return {word: await config.network(word) for word in sorted(filter(None, words))}


def joined(info: Callable[[str], None], cluster: Cluster, plans: Sequence[NicPlan], group: NodeGroup) -> list[NicPlan]:
    """The interfaces with what the group's connections make of them: that counts above all that the cluster has.

    @raise OpPrereqError: the group does not have one of the networks.
    """
    return [join(info, cluster, index, plan, group) for index, plan in enumerate(plans)]


def join(info: Callable[[str], None], cluster: Cluster, index: int, plan: NicPlan, group: NodeGroup) -> NicPlan:
    """One of them."""
    if plan.network is None:
        return plan
    if plan.network.uuid not in group.networks:
        raise OpPrereqError(
            f"nic/{index}: network {plan.network.name} is not connected to node group {group.name};"
            f" 'gnt-network connect {plan.network.name} {group.name}' does that",
            ECode.STATE,
        )
    params = fill_nicparams(cluster, group.networks[plan.network.uuid])
    try:
        mode = typed_nicparams(params).mode
    except GenericError as error:
        raise OpPrereqError(f"nic/{index}: network {plan.network.name}: {error}", ECode.INVAL) from None
    if mode == NicMode.ROUTED and plan.ip is None and not plan.from_pool:
        raise OpPrereqError(
            f"nic/{index}: network {plan.network.name} is routed, so a NIC in it needs an ip", ECode.INVAL
        )
    info(f"- INFO: NIC/{index} inherits netparams {[params['link'], params['mode'], params['vlan']]}")
    return attrs.evolve(plan, params=params)


def check_strangers(plans: Sequence[NicPlan], group: NodeGroup, networks: Sequence[Network]) -> None:
    """@raise OpPrereqError: an interface is to have an address of a network of the group, and not be in that network."""
    of_group = [network for network in networks if network.uuid in group.networks]
    for plan in plans:
        for network in of_group:
            if plan.network is None and plan.ip is not None and AddressPool(network).holds(plan.ip):
                raise OpPrereqError(
                    f"The requested IP address ({plan.ip}) belongs to network {network.name}, but the target NIC does"
                    " not; give the network, or allow it with --no-conflicts-check",
                    ECode.STATE,
                )


async def with_addresses(
    config: IConfig,
    info: Callable[[str], None],
    plans: Sequence[NicPlan],
    *,
    external: bool,
    own: Collection[tuple[str, str]] = (),
) -> list[NicPlan]:
    """The interfaces with their addresses, each of which is reserved: first the given ones, then those of pools.

    @param own: those that the instance has already, each with the uuid of its network.
    @param external: an address that the administrator keeps from instances may be given.
    @raise OpPrereqError: somebody has one, or there is none left.
    """
    given = [(plan.network.uuid, plan.ip) for plan in plans if plan.network is not None and plan.ip is not None]
    for plan in plans:
        if plan.network is None or plan.ip is None:
            continue
        if given.count((plan.network.uuid, plan.ip)) > 1:
            raise OpPrereqError(f"IP address {plan.ip} of network {plan.network.name} is given twice", ECode.NOTUNIQUE)
        if (plan.network.uuid, plan.ip) in own:
            continue
        try:
            await config.reserve_ip(plan.network.uuid, plan.ip, external)
        except ReservationError as error:
            raise OpPrereqError(
                f"IP address {plan.ip} already in use or does not belong to network {plan.network.name}: {error}",
                ECode.NOTUNIQUE,
            ) from None
    return [await _from_pool(config, info, plan) for plan in plans]


async def _from_pool(config: IConfig, info: Callable[[str], None], plan: NicPlan) -> NicPlan:
    if plan.network is None or not plan.from_pool:
        return plan
    try:
        address = await config.generate_ip(plan.network.uuid)
    except ReservationError as error:
        raise OpPrereqError(str(error), ECode.NORES) from None
    info(f"- INFO: Chose IP {address} from network {plan.network.name}")
    return attrs.evolve(plan, ip=address)

"""The NICs of an instance as a request would have them: changed one after the other, with addresses that are reserved."""

from collections.abc import Mapping, Sequence

import attrs

from ganeti_tx.errors import ECode, OpPrereqError, ReservationError
from ganeti_tx.logic.instance.modify.items import (
    check_name,
    check_number,
    check_requests,
    found,
    inserted,
    place,
    replaced,
    without,
)
from ganeti_tx.logic.instance.nic_networks import Networks, check_strangers, join
from ganeti_tx.logic.instance.nics import MAX_NICS, NicPlan, plan_nic
from ganeti_tx.logic.instance.taken import check_link_local, check_taken
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.instance_communication import is_named_so
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.types import ChangeAction, NicChange, NicKey
from ganeti_tx.model.params.kinds import DEFAULT, NONE
from ganeti_tx.model.params.nic import fill_nicparams

Asked = Mapping[NicKey, str | None]
KIND = "NIC"
#: What connects a NIC, unless its network does.
OWN = (NicKey.MODE, NicKey.LINK, NicKey.VLAN)


@attrs.define
class NicChanges:
    """Does the changes in their order, on paper; what they take is reserved for the job.

    @ivar conflicts_check: whether addresses of networks of the group are for NICs in these networks only.
    """

    parts: Parts
    view: InstanceView
    group: NodeGroup
    networks: Networks
    all_networks: Sequence[Network]
    conflicts_check: bool
    nics: tuple[Nic, ...] = attrs.field(init=False)
    told: list[tuple[str, object]] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.nics = self.view.instance.nics

    async def make(self, changes: Sequence[NicChange]) -> None:
        """@raise OpPrereqError: one of them cannot be; what was reserved goes when the job ends."""
        check_requests(KIND, len(changes), MAX_NICS)
        for change in changes:
            if change.action is ChangeAction.ADD:
                await self._add(change)
            elif change.action is ChangeAction.MODIFY:
                await self._modify(change)
            elif change.action is ChangeAction.REMOVE:
                self._remove(change)
            else:
                raise OpPrereqError(f"NICs cannot be {change.action.value}ed; add and remove them", ECode.INVAL)
        check_number(KIND, len(self.nics), MAX_NICS)

    async def _add(self, change: NicChange) -> None:
        index = place(KIND, change.item, self.nics)
        if index == len(self.nics) and self.nics and is_named_so(self.nics[-1].name):
            index -= 1  # the one by which the instance talks to its node stays the last
        nic = await self._made(index, change.params, None)
        self.nics = inserted(self.nics, index, nic)
        spec, network = self._spec(nic), self._network_name(nic)
        self.told.append(
            (f"nic.{index}", f"add:mac={nic.mac},ip={nic.ip},mode={spec.mode},link={spec.link},network={network}")
        )

    async def _modify(self, change: NicChange) -> None:
        if not change.params:
            raise OpPrereqError(f"NIC {change.item}: nothing to change is given", ECode.INVAL)
        index = found(KIND, change.item, self.nics)
        held = self.nics[index]
        nic = await self._made(index, change.params, held)
        self.nics = replaced(self.nics, index, nic)
        spec, asked = self._spec(nic), change.params
        facts = [
            ("mac", nic.mac, nic.mac != held.mac or NicKey.MAC in asked),
            ("ip", nic.ip, NicKey.IP in asked),
            ("name", nic.name, NicKey.NAME in asked),
            ("network", self._network_name(nic), NicKey.NETWORK in asked),
            ("link", spec.link, True),
            ("mode", spec.mode, True),
            ("vlan", spec.vlan, True),
        ]
        self.told.extend((f"nic.{name}/{index}", value) for name, value, shown in facts if shown)

    def _remove(self, change: NicChange) -> None:
        if change.params:
            raise OpPrereqError(f"NIC {change.item}: it is to be removed, so nothing can be said of it", ECode.INVAL)
        index = found(KIND, change.item, self.nics)
        self.nics = without(self.nics, index)
        self.told.append((f"NIC/{index}", "remove"))

    async def _made(self, index: int, asked: Asked, held: Nic | None) -> Nic:
        """The NIC that a request makes, of one that there is or anew."""
        what, cluster = f"nic/{index}", self.view.cluster
        plan = plan_nic(cluster, what, asked if held is None else self._merged(held, asked), None, self.networks)
        plan = join(self._silent, cluster, index, plan, self.group)
        others = [nic for nic in self.nics if nic is not held]
        if held is None or plan.name != held.name:
            check_name(KIND, plan.name, others)
        if self.conflicts_check:
            check_strangers([plan], self.group, self.all_networks)
            await check_taken(self.parts.config, [plan], self.view.instance.uuid, others)
        address = await self._address(plan, held, others)
        check_link_local(cluster, self.all_networks, plan.network, address)
        return Nic(
            uuid=await self.parts.config.generate_uuid() if held is None else held.uuid,
            mac=await self._mac(plan, others),
            nicparams=plan.params,
            ip=address,
            name=plan.name,
            network=None if plan.network is None else plan.network.uuid,
        )

    def _silent(self, message: str) -> None:
        """What is inherited from a network is told with the change."""

    def _merged(self, held: Nic, asked: Asked) -> Asked:
        """A NIC as it would be asked for if it were new: what it has, and above that what was asked for."""
        name = self._network_name(held)
        merged: dict[NicKey, str | None] = {
            NicKey.MAC: held.mac,
            NicKey.IP: held.ip,
            NicKey.NAME: held.name,
            NicKey.NETWORK: name,
        }
        network = asked.get(NicKey.NETWORK, name)
        if network in (None, "", NONE):
            merged |= {key: str(held.nicparams[key.value]) for key in OWN if key.value in held.nicparams}
            if NicKey.BRIDGE in asked:
                merged.pop(NicKey.LINK, None)
        elif self.networks[network].uuid != held.network:
            merged[NicKey.MAC] = None
        return {key: value for key, value in {**merged, **asked}.items() if value != DEFAULT}

    async def _address(self, plan: NicPlan, held: Nic | None, others: Sequence[Nic]) -> str | None:
        if plan.network is None:
            return plan.ip
        if plan.from_pool:
            return await self._from_pool(plan.network)
        if plan.ip is not None:
            await self._take(plan.network, plan.ip, others)
        return plan.ip

    async def _take(self, network: Network, address: str, others: Sequence[Nic]) -> None:
        """An address that a NIC of this instance has, and would not have any more, is free for another one."""
        if any((nic.network, nic.ip) == (network.uuid, address) for nic in others):
            raise OpPrereqError(
                f"IP {address} not available in network {network.name}: another NIC has it", ECode.NOTUNIQUE
            )
        if not any((nic.network, nic.ip) == (network.uuid, address) for nic in self.view.instance.nics):
            await self._reserve(network, address)

    async def _reserve(self, network: Network, address: str) -> None:
        try:
            await self.parts.config.reserve_ip(network.uuid, address, not self.conflicts_check)
        except ReservationError as error:
            raise OpPrereqError(
                f"IP {address} not available in network {network.name}: {error}", ECode.NOTUNIQUE
            ) from None

    async def _from_pool(self, network: Network) -> str:
        try:
            address = await self.parts.config.generate_ip(network.uuid)
        except ReservationError as error:
            raise OpPrereqError(str(error), ECode.NORES) from None
        self.parts.info(f"- INFO: Chose IP {address} from network {network.name}")
        return address

    async def _mac(self, plan: NicPlan, others: Sequence[Nic]) -> str:
        config = self.parts.config
        if plan.mac is None:
            return await config.generate_mac(None if plan.network is None else plan.network.uuid)
        taken = any(nic.mac.lower() == plan.mac for nic in others)
        had = any(nic.mac.lower() == plan.mac for nic in self.view.instance.nics)
        try:
            if not taken and not had:
                await config.reserve_mac(plan.mac)
        except ReservationError:
            taken = True
        if taken:
            raise OpPrereqError(f"MAC address '{plan.mac}' already in use in cluster", ECode.NOTUNIQUE)
        return plan.mac

    def _network_name(self, nic: Nic) -> str | None:
        return next((each.name for each in self.all_networks if each.uuid == nic.network), None)

    def _spec(self, nic: Nic) -> NicSpec:
        params = fill_nicparams(self.view.cluster, nic.nicparams)
        return NicSpec(
            uuid=nic.uuid, mac=nic.mac, mode=str(params["mode"]), link=str(params["link"]), vlan=str(params["vlan"])
        )

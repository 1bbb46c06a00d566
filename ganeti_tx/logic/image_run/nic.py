"""The NIC by which an instance that runs from an image reaches its node: its own, or one for that time."""

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.communication import asked_nic
from ganeti_tx.logic.instance.nic_networks import joined, named_networks, with_addresses
from ganeti_tx.logic.instance.nics import make_nics, plan_nics
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.instance_communication import communication_nic
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.instance_view import InstanceView


async def image_nics(parts: Parts, target: InstanceView) -> list[NicSpec]:
    """All that the instance is to have. What it has not of its own is reserved as long as the job lasts.

    @raise OpPrereqError: there is no network for it, or no address in it.
    """
    own = [target.nic_spec(nic) for nic in target.instance.nics]
    if communication_nic(target.spec()) is not None:
        return own
    asked = [asked_nic(target.instance.name, target.cluster)]
    networks = await named_networks(parts.config, asked)
    plans = plan_nics(target.cluster, asked, None, networks)
    plans = joined(lambda _: None, target.cluster, plans, target.group)
    plans = await with_addresses(parts.config, lambda _: None, plans, external=False)
    (nic,) = await make_nics(parts.config, plans)
    known = {**target.networks, **{network.uuid: network for network in networks.values()}}
    made = replace(target, networks=known).nic_spec(nic)
    if not made.communication:
        raise OpPrereqError("the network of instance communication was changed meanwhile; ask again", ECode.STATE)
    return [*own, made]

"""Instances that are only reserved: made without disks, and later committed, by what is said then and what was reserved."""

from collections.abc import Iterable, Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.instance.create_plan import without_auto
from ganeti_tx.logic.instance.nics import NicPlan, network_uuid
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk, without_secrets
from ganeti_tx.model.disk_template import ADOPT, Adoption, Child
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import DiskParams, NicKey, NicParams, Params
from ganeti_tx.model.params.backend import check_beparams
from ganeti_tx.model.params.hypervisor import new_hvparams
from ganeti_tx.model.params.kinds import updated
from ganeti_tx.model.pools import pool_of

#: What clients send that were told nothing of interfaces: one, with what the cluster has.
UNSAID_NICS: tuple[NicParams, ...] = ({},)
NO_SECRET = ""


def reserved_only(instance: Instance, disks: Sequence[Disk]) -> tuple[Instance, list[Disk]]:
    """The same, not there yet; a secret of disks is drawn when they are made."""
    later = [without_secrets(replace(disk, forthcoming=True), NO_SECRET) for disk in disks]
    return replace(instance, forthcoming=True), later


def refuse_real(reserved: InstanceView) -> None:
    """@raise OpPrereqError: the instance is there, so there is nothing to commit."""
    if not reserved.instance.forthcoming:
        raise OpPrereqError(
            f"instance {reserved.instance.name} is not forthcoming: it has been created already", ECode.EXISTS
        )


def as_reserved(op: OpInstanceCreate, reserved: InstanceView) -> OpInstanceCreate:
    """The request with all that it leaves out as it was reserved. @raise OpPrereqError: parameters that cannot be."""
    try:
        return _as_reserved(op, reserved)
    except OpPrereqError:
        raise
    except GenericError as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None


def _as_reserved(op: OpInstanceCreate, reserved: InstanceView) -> OpInstanceCreate:
    held = reserved.instance
    hypervisor = op.hypervisor or held.hypervisor
    return replace(
        op,
        **_place(op, reserved),
        disk_template=op.disk_template or reserved.disk_template,
        disks=op.disks or (() if op.disk_template else tuple(map(asked_disk, reserved.disks))),
        nics=tuple(map(asked_nic, held.nics)) if op.nics == UNSAID_NICS else op.nics,
        os_type=op.os_type or held.os or None,
        no_install=op.no_install or not (op.os_type or held.os),
        hypervisor=hypervisor,
        hvparams=_hvparams(hypervisor, op.hvparams, held),
        beparams=updated(held.beparams, check_beparams(without_auto(op.beparams))),
        osparams={**held.osparams, **op.osparams},
        osparams_private={
            **{name: Private(value) for name, value in held.osparams_private.items()},
            **(op.osparams_private or {}),
        },
        tags=op.tags or held.tags,
    )


def _hvparams(hypervisor: Hypervisor, given: Params, held: Instance) -> Params:
    kept = held.hvparams if hypervisor == held.hypervisor else {}
    return updated(kept, new_hvparams(hypervisor, given))


def _place(op: OpInstanceCreate, reserved: InstanceView) -> dict[str, str | None]:
    """Its nodes, if nobody says where else it shall be."""
    if op.pnode or op.pnode_uuid or op.iallocator or op.group_name:
        return {}
    secondary = next((node.uuid for node in reserved.secondaries), None)
    return {"pnode_uuid": reserved.primary.uuid, "snode_uuid": op.snode_uuid or (None if op.snode else secondary)}


def asked_disk(disk: Disk) -> DiskParams:
    """What would be said of a disk to have it so."""
    place = disk.logical_id or ("",)
    adopted = disk.template.adoption is Adoption.ALWAYS
    said: dict[str | None, str | int | None] = {
        **{name: value for name, value in (disk.params or {}).items() if isinstance(value, str | int)},
        **({ADOPT: place[-1]} if adopted else {"size": disk.size}),
        "mode": disk.mode,
        "name": disk.name,
        "spindles": disk.spindles,
        disk.template.pool_key: place[0],
        **{child.pool_key: part.logical_id[0] for child, part in _parts(disk) if part.logical_id},
    }
    return {name: value for name, value in said.items() if name is not None and value is not None}


def _parts(disk: Disk) -> Iterable[tuple[Child, Disk]]:
    return zip(disk.template.children, disk.children, strict=False)


def refuse_adopting(disks: Sequence[DiskPlan]) -> None:
    """@raise OpPrereqError: a disk is to be made of what is there, which would not be known any more when it is."""
    for plan in disks:
        if plan.adopt is not None and TEMPLATES[plan.template].adoption is not Adoption.ALWAYS:
            raise OpPrereqError(
                f"{plan.adopt} cannot be adopted by a forthcoming instance; reserve it with a size, and adopt that when"
                " it is committed",
                ECode.INVAL,
            )


def asked_nic(nic: Nic) -> NicParams:
    """What would be said of an interface to have it so."""
    own = {} if nic.network else {NicKey(name): str(value) for name, value in nic.nicparams.items()}
    said = {NicKey.MAC: nic.mac, NicKey.IP: nic.ip, NicKey.NAME: nic.name, NicKey.NETWORK: nic.network}
    return {**own, **{key: value for key, value in said.items() if value is not None}}


def keeping(plans: Sequence[NicPlan], held: Sequence[Nic]) -> list[NicPlan]:
    """The interfaces, where it is left open with the MAC address, and the address of the pool, that the one in the same
    place and network had.
    """
    kept = dict(enumerate(held))
    return [_keeping(plan, kept.get(index)) for index, plan in enumerate(plans)]


def _keeping(plan: NicPlan, held: Nic | None) -> NicPlan:
    if held is None or held.network != network_uuid(plan):
        return plan
    ip = held.ip if plan.from_pool else plan.ip
    return attrs.evolve(plan, mac=plan.mac or held.mac, ip=ip, from_pool=plan.from_pool and ip is None)


@attrs.frozen
class Own:
    """What an instance that was reserved has already, so that it need not be reserved again."""

    macs: frozenset[str] = frozenset()
    addresses: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, nics: Sequence[Nic]) -> "Own":
        """Those of its interfaces; addresses with the uuid of their network."""
        return cls(
            frozenset(nic.mac.lower() for nic in nics),
            frozenset((nic.network, nic.ip) for nic in nics if nic.network is not None and nic.ip is not None),
        )


def room_reserved(disks: Sequence[Disk], cluster: Cluster, node: Node) -> dict[tuple[str, str], int]:
    """MiB that forthcoming disks will take on a node, by kind and name of the pool."""
    taken: dict[tuple[str, str], int] = {}
    for disk in (each for each in disks if not each.nodes or node.uuid in each.nodes):
        for part in disk.children or (disk,):
            template = part.template
            if template.pool is not None and template.adoption is not Adoption.ALWAYS:
                chosen = part.logical_id[0] if template.pool_key is not None and part.logical_id else None
                pool = (template.storage.value, str(chosen or pool_of(template, cluster)))
                taken[pool] = taken.get(pool, 0) + part.size
    return taken

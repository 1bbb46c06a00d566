"""Disks of instances that are on one storage: they came to it before that was refused, or a device has got another name.

That may be meant: a file system of several instances, or data that all only read. So it is a warning, and nothing where none of
them can be written to.
"""

from collections.abc import Iterator, Mapping

from ganeti_tx.logic.disks.questions import AT_A_TIME, SECONDS_EACH
from ganeti_tx.logic.disks.same_storage import Identities, storage_of_disks
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.providers import reports_of
from ganeti_tx.logic.verify.scene import GroupScene, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_places import places_of_disks
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.interfaces import PROMPT, RpcError

#: The mode of disks that a guest cannot write to.
READ_ONLY = "ro"


async def shared_storage(parts: Parts, scene: GroupScene, told: Told) -> list[Verdict]:
    """Of the disks of the group's instances, beside those of all instances."""
    identities = identities_of(scene, told)
    storage = storage_of_disks(scene.everything, identities)
    faults = []
    if (node := next((each for each in hosts(scene) if told.answered(each)), None)) is not None:
        try:
            storage |= await adopted_devices(parts, scene, node)
        except RpcError as error:
            faults = [Verdict(VerifyCode.ENODERPC, node.name, f"while getting disk information: {error.reason}")]
    return [*faults, *judge_shared(scene, storage, identities)]


def hosts(scene: GroupScene) -> Iterator[Node]:
    """The nodes that have disks, and are asked."""
    return (node for node in scene.online if node.vm_capable)


def identities_of(scene: GroupScene, told: Told) -> Identities:
    """The parameters that name storage, by provider, as the first node tells them that has any."""
    found: dict[str, tuple[str, ...]] = {}
    for node in hosts(scene):
        for name, reports in (reports_of(told, node) or {}).items():
            if reports[0].identity:
                found.setdefault(name, reports[0].identity)
    return found


async def adopted_devices(parts: Parts, scene: GroupScene, node: Node) -> dict[str, str]:
    """Which devices disks of the group's instances are, by their uuids, as one node sees them: each device has several names.

    They are looked at as for their states, so that nobody who wants one for himself is kept from it.

    @raise RpcError: it does not tell.
    """
    disks = [
        spec
        for view in scene.instances
        for disk, spec in zip(view.disks, view.disk_specs(node), strict=True)
        if disk.template.adoptable is not None and disk.logical_id
    ]
    if len(disks) < 2:
        return {}
    found: dict[str, str] = {}
    for start in range(0, len(disks), AT_A_TIME):
        some = disks[start : start + AT_A_TIME]
        states = await parts.nodes.call(node, BlockdevStates(disks=some), PROMPT + SECONDS_EACH * len(some))
        for spec, state in zip(some, states, strict=False):
            if state.status is not None and state.status.major is not None:
                found[spec.uuid] = f"device {state.status.major}:{state.status.minor} of node {node.name}"
    return found


def judge_shared(scene: GroupScene, storage: Mapping[str, str], identities: Identities) -> Iterator[Verdict]:
    """Of each disk by itself, unless nobody writes to any of them. @param storage: what disks are on, by their uuids."""
    places = places_of_disks(scene.everything.instances)
    on: dict[str, list[str]] = {}
    for uuid in sorted(places.keys() & storage.keys()):
        on.setdefault(storage[uuid], []).append(uuid)
    for view in scene.instances:
        for index, disk in enumerate(view.disks):
            if (name := storage.get(disk.uuid)) is None:
                continue
            others = sorted(places[uuid] for uuid in on[name] if uuid != disk.uuid)
            text = (
                f"disk/{index} is on the same storage as {', '.join(others)} ({name}): unless a file system of several machines is"
                " meant to be there, stop these instances with 'gnt-instance shutdown' and look whose data are there; if they are"
                f" not this one's, 'gnt-instance modify {way_out(index, disk, identities, view.instance.name)}"
            )
            written = any(scene.everything.disks[uuid].mode != READ_ONLY for uuid in on[name])
            wrong = bool(others) and written
            yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, view.instance.name, text, wrong, warning=True)


def way_out(index: int, disk: Disk, identities: Identities, name: str) -> str:
    """How a disk leaves the storage that another one has, too."""
    provider = str((disk.params or {}).get(disk.template.provider_key or "", ""))
    if keys := identities.get(provider):
        others = ",".join(f"{key}=..." for key in keys)
        return f"--disk {index}:{others} {name}' gives the disk storage of its own"
    return f"--disk {index}:remove {name}' takes the disk away and leaves the device as it is"

"""Whether the instances of a group run, and are placed and sized as they may be (reference: verify.json)."""

from collections.abc import Iterator
from functools import partial

from ganeti_tx.logic.instance.presence import HALTED, own_machine
from ganeti_tx.logic.verify.disks import judge_disks
from ganeti_tx.logic.verify.scene import GroupScene, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import can_be_exclusive, is_exclusive
from ganeti_tx.model.instance_policy import policy_violations
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.instance import RunningInstance


def judge_instance(scene: GroupScene, told: Told, view: InstanceView) -> Iterator[Verdict]:
    """All that is said of one."""
    yield from judge_policy(view)
    yield from judge_state(told, view)
    yield from judge_disks(told, view)
    yield from judge_nodes(told, view)
    yield from judge_suitability(view)


def judge_policy(view: InstanceView) -> Iterator[Verdict]:
    """Of its sizes, beside what its group admits."""
    found = policy_violations(view)
    yield Verdict(VerifyCode.EINSTANCEPOLICY, view.instance.name, ", ".join(found), bool(found))


def judge_state(told: Told, view: InstanceView) -> Iterator[Verdict]:
    """Whether it runs if it should; one that its user has stopped is as it should be."""
    instance, primary = view.instance, view.primary
    should_run = instance.admin_state is AdminState.UP
    seen = own_machine((value(told.running.get(primary.name)) or {}).get(instance.name), instance)
    text = f"instance not running on its primary node {primary.name}"
    yield Verdict(VerifyCode.EINSTANCEDOWN, instance.name, text, should_run and seen is None and not primary.offline)
    ails = seen is not None and (seen.state == HALTED or bool(seen.why))
    text = f"instance {ailment(primary, seen)}"
    yield Verdict(VerifyCode.EINSTANCEDOWN, instance.name, text, should_run and ails)
    text = f"instance is marked as running and lives on offline node {primary.name}"
    yield Verdict(VerifyCode.EINSTANCEBADNODE, instance.name, text, should_run and primary.offline)


def ailment(node: Node, seen: RunningInstance | None) -> str:
    """How it is halted, or runs and is of no use."""
    if seen is not None and seen.state != HALTED:
        return f"runs on node {node.name}, but {seen.why}"
    return f"halted by its hypervisor on node {node.name}: {seen.why if seen else ''}"


def judge_nodes(told: Told, view: InstanceView) -> Iterator[Verdict]:
    """Of its nodes."""
    about = partial(Verdict, name=view.instance.name)
    primary, secondaries = view.primary, view.secondaries
    lost = not primary.offline and not told.answered(primary)
    yield Verdict(
        VerifyCode.ENODERPC, primary.name, f"instance {view.instance.name}, connection to primary node failed", lost
    )
    names = ", ".join(node.name for node in secondaries)
    text = f"instance has multiple secondary nodes: {names}"
    yield about(VerifyCode.EINSTANCELAYOUT, text=text, wrong=len(secondaries) > 1)
    groups = sorted(group.name for group in view.groups.values())
    text = f"instance has primary and secondary nodes in different groups: {', '.join(groups)}"
    yield about(VerifyCode.EINSTANCESPLITGROUPS, text=text, wrong=len(groups) > 1)
    offline = [node.name for node in secondaries if node.offline]
    text = f"instance has offline secondary node(s) {', '.join(offline)}"
    yield about(VerifyCode.EINSTANCEBADNODE, text=text, wrong=bool(offline))
    for node in (primary, *secondaries):
        text = f"instance lives on non-vm_capable node {node.name}"
        yield about(VerifyCode.EINSTANCEBADNODE, text=text, wrong=not node.vm_capable)


def judge_suitability(view: InstanceView) -> Iterator[Verdict]:
    """Whether its disks fit nodes on which no two of them share a physical volume."""
    exclusive = [
        node.name
        for node in (view.primary, *view.secondaries)
        if is_exclusive(view.cluster, view.groups.get(node.group), node)
    ]
    fits = can_be_exclusive(TEMPLATES[view.disk_template])
    text = (
        f"instance has template {view.disk_template.value}, which is not supported on nodes with exclusive storage: "
        f"{', '.join(exclusive)}"
    )
    yield Verdict(VerifyCode.EINSTANCEUNSUITABLENODE, view.instance.name, text, bool(exclusive) and not fits)
    for index, disk in enumerate(view.disks):
        text = (
            f"number of spindles not configured for disk/{index} while exclusive storage is enabled; "
            "'gnt-cluster repair-disk-sizes' finds it out"
        )
        wrong = bool(exclusive) and disk.spindles is None
        yield Verdict(VerifyCode.EINSTANCEMISSINGCFGPARAMETER, view.instance.name, text, wrong)

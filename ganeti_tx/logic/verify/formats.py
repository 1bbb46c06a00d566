"""Whether machines that run read their disks as what they are."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk_formats import KEY, format_of
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode

CHECK = "disk-formats"


def in_question(view: InstanceView) -> bool:
    """Whether its disks may be of several formats, and its hypervisor reads more than one."""
    formatted = KEY in TEMPLATES[view.disk_template].fixed
    return formatted and len(HYPERVISORS[view.instance.hypervisor].formats) > 1


def ask_formats(scene: GroupScene) -> Mapping[str, Any]:
    """Of instances, wherever they run."""
    asked = [(view.instance.hypervisor.value, view.instance.name) for view in scene.instances if in_question(view)]
    return {CHECK: asked} if asked else {}


def judge_formats(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each machine that runs there."""
    found: dict[str, dict[str, str] | str] = told.check(node, CHECK, {})
    for view in scene.instances:
        formats = found.get(view.instance.name, {})
        if isinstance(formats, str):
            text = f"cannot tell as what it reads its disks on {node.name}: {formats}"
            yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, view.instance.name, text, warning=True)
        else:
            yield from judge_machine(view, node, formats)


def judge_machine(view: InstanceView, node: Node, formats: Mapping[str, str]) -> Iterator[Verdict]:
    """Of each disk of which a machine tells; what it writes to one that it takes for something else makes it unreadable."""
    for index, disk in enumerate(view.disks):
        if (read := formats.get(disk.uuid)) is not None:
            wanted = format_of(disk.template, disk.params)
            text = (
                f"disk/{index} is of format {wanted}, and the machine that runs on {node.name} reads and writes it as {read}:"
                f" stop it with 'gnt-instance shutdown {view.instance.name}', and look at the disk before it is started again"
            )
            yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, view.instance.name, text, read != wanted)


SUBJECTS = (Subject(judge_formats, ask_formats, of_hosts=True),)

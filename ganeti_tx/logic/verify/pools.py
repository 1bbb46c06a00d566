"""Whether a node can keep disks where the cluster has them, and which are there that nobody has (reference: verify.json)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ganeti_tx.errors import ParameterError, QueryFilterParseError
from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_template import DirectoryCheck
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.pools import pool_of
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.query.language.pattern import compile_pattern

#: The logical ids of what is there, by templates; a text says why it cannot be told.
Volumes = Mapping[DiskTemplate, list[list[Any]] | str]
ALLOWED = "allowed-file-storage-paths"


def directories(cluster: Cluster) -> dict[DirectoryCheck, tuple[str, str]]:
    """The enabled templates that keep disks in a directory, and where, by how that is checked."""
    enabled = ((word, TEMPLATES[word]) for word in cluster.enabled_disk_templates)
    places = {
        template.check: (word.value, pool_of(template, cluster)) for word, template in enabled if template.check is not None
    }  # fmt: skip
    return {check: (word, place) for check, (word, place) in places.items() if place}


def ask_directories(scene: GroupScene) -> Mapping[str, Any]:
    """Whether it may use the directories."""
    checks = {check.name: place for check, (_, place) in directories(scene.cluster).items()}
    return {**checks, ALLOWED: None} if checks else {}


def judge_directories(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the administrator's list, and of each directory."""
    bad: list[str] = told.check(node, ALLOWED, [])
    text = f"Found forbidden file storage paths: {'; '.join(bad)}"
    used = directories(scene.cluster)
    yield Verdict(VerifyCode.ENODEFILESTORAGEPATHS, node.name, text, bool(bad and used))
    for check, (word, _) in used.items():
        fault = told.check(node, check.name, None)
        text = f"The configured {word} storage path is unusable: {fault}"
        yield Verdict(check.code, node.name, text, fault is not None)


def places(cluster: Cluster) -> dict[str, str]:
    """Where each enabled template, and what its disks are made of, is kept."""
    enabled = cluster.enabled_disk_templates
    words = {*enabled, *(DiskTemplate(child.template) for word in enabled for child in TEMPLATES[word].children)}
    found = {word.value: pool_of(TEMPLATES[word], cluster) for word in sorted(words)}
    return {word: place for word, place in found.items() if place}


def is_reserved(name: str, patterns: Sequence[str]) -> bool:
    """Whether the administrator wants a volume, GROUP/NAME, to be left alone; a pattern that is none, or that could take
    too long (a configuration may be of another version), matches nothing.
    """
    for pattern in patterns:
        with suppress(ParameterError, QueryFilterParseError):
            if compile_pattern(pattern).is_whole(name):
                return True
    return False


def ask_volumes(scene: GroupScene) -> Mapping[str, Any]:
    """What is in the pools."""
    return {"volumes": places(scene.cluster)}


def orphans(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of what a node has in its pools, and no disk that the configuration has there is."""
    disks = scene.everything.disks.values()
    known = {key for disk in disks if may_be_on(disk, node) for key in names(disk)} | seen_by_all(scene, told)
    seen: set[str] = set()  # one pool may lie in another
    listed: Volumes = told.check(node, "volumes", {}) if node.vm_capable else {}
    for template, found in listed.items():
        in_group = TEMPLATES[template].storage is StorageType.LVM_VG
        if isinstance(found, str):
            check = TEMPLATES[template].check
            if not in_group:
                code = VerifyCode.ENODELVM if check is None else check.code
                yield Verdict(code, node.name, f"cannot list the disks of template {template.value}: {found}")
            continue
        for logical_id in found:
            text = f"volume {'/'.join(map(str, logical_id)) if in_group else logical_id[-1]} is unknown"
            place = place_of(logical_id)
            reserved = in_group and is_reserved("/".join(map(str, logical_id)), scene.cluster.reserved_lvs)
            strange = place not in known and place not in seen and not reserved
            yield Verdict(VerifyCode.ENODEORPHANLV, node.name, text, strange)
            seen.add(place)


def may_be_on(disk: Disk, node: Node) -> bool:
    """Whether a disk is at home on a node: a copy elsewhere, as of a move that broke off, is nobody's."""
    return disk.template.shared or not disk.nodes or node.uuid in disk.nodes


def seen_by_all(scene: GroupScene, told: Told) -> set[str]:
    """Disks of the configuration that every node of the group has in its pools: these lie in a directory that nodes share.

    Of a node that is alone nobody can tell, and what may be somebody's disk is called no orphan. So it is with nodes that do not
    tell what they have: nothing speaks against their having it, too.
    """
    answers: list[Volumes | None] = [told.check(node, "volumes", None) for node in scene.online if node.vm_capable]
    listed = [one for one in answers if one is not None and not any(isinstance(part, str) for part in one.values())]
    found = [{place_of(each) for part in one.values() for each in part} for one in listed]
    configured = {key for disk in scene.everything.disks.values() for key in names(disk)}
    return configured.intersection(*found) if found else set()


def place_of(logical_id: Any) -> str:
    """Where a disk is, of which the first part of the id does not tell for files."""
    return str(logical_id[-1])


def names(disk: Any) -> Iterator[str]:
    """The places of a disk and of those that it is made of."""
    if disk.logical_id:
        yield place_of(disk.logical_id)
    for child in disk.children:
        yield from names(child)


SUBJECTS = (
    Subject(judge_directories, ask_directories, of_hosts=True),
    Subject(lambda *_: (), ask_volumes, of_hosts=True),
)

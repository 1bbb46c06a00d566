"""Whether a node speaks our language, has the time, and is set up as the others are."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.node import fill_ndparams, oob_program
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.rpc.calls.check_answers import FAILED

#: Seconds by which a node's clock may differ from the master's (reference: verify.json, ENODETIME).
MAX_SKEW = 150.0


def ask_version(scene: GroupScene) -> Mapping[str, Any]:
    """What it runs, and its time."""
    return {"version": None, "time": None}


def judge_failed(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of checks that the node could not make, or of which nobody understands what it says."""
    failed: dict[str, str] = told.check(node, FAILED, {})
    for name, reason in sorted(failed.items()):
        yield Verdict(VerifyCode.ENODERPC, node.name, f"unable to verify node: {name}: {reason}")


def judge_version(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the protocol and of the programs."""
    protocol, release = told.check(node, "version", [NODE_PROTOCOL_VERSION, RELEASE_VERSION])
    text = f"incompatible protocol versions: master {NODE_PROTOCOL_VERSION}, node {protocol}"
    yield Verdict(VerifyCode.ENODEVERSION, node.name, text, protocol != NODE_PROTOCOL_VERSION)
    text = f"software version mismatch: master {RELEASE_VERSION}, node {release}"
    yield Verdict(VerifyCode.ENODEVERSION, node.name, text, release != RELEASE_VERSION, warning=True)


def judge_time(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of its clock, which was read at some time between two looks at the master's."""
    there = told.check(node, "time", None)
    if there is None:
        yield Verdict(VerifyCode.ENODETIME, node.name, "Node returned invalid time")
        return
    off = max(told.began - there, there - told.ended, 0.0)
    text = f"Node time diverges by at least {off:.1f}s from master node time"
    yield Verdict(VerifyCode.ENODETIME, node.name, text, not off <= MAX_SKEW)  # it may be no number


def ask_setup(scene: GroupScene) -> Mapping[str, Any]:
    """Which addresses its hosts file has, where the cluster cares for those files."""
    if not scene.cluster.modify_etc_hosts:
        return {}
    return {"node-setup": {node.name: node.primary_ip for node in scene.everything.nodes.values()}}


def judge_setup(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of its files besides the cluster's own."""
    faults: list[str] = told.check(node, "node-setup", [])
    yield Verdict(VerifyCode.ENODESETUP, node.name, f"node setup error: {'; '.join(faults)}", bool(faults))


def ask_modes(scene: GroupScene) -> Mapping[str, Any]:
    """Which of its secrets and directories are open to more users than they should be."""
    return {"open-paths": None}


def judge_modes(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each by itself; a node that does not know the check says nothing."""
    faults: list[str] = told.check(node, "open-paths", [])
    for fault in faults:
        text = f"node setup error: {fault}; 'ganeti-ensure-dirs --full-run' on the node mends it"
        yield Verdict(VerifyCode.ENODESETUP, node.name, text)


def ask_scripts(scene: GroupScene) -> Mapping[str, Any]:
    """Which of the administrator's scripts it lacks."""
    return {"user-scripts": None} if scene.cluster.use_external_mip_script else {}


def judge_scripts(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of candidates, which may have to take the cluster's address."""
    missing: list[str] = told.check(node, "user-scripts", [])
    text = f"user scripts not present or not executable: {', '.join(missing)}"
    yield Verdict(VerifyCode.ENODEUSERSCRIPTS, node.name, text, bool(missing) and node.master_candidate)


def oob_programs(scene: GroupScene) -> list[str]:
    """The programs that power nodes of any group, each once."""
    whole = scene.everything
    found = {
        oob_program(fill_ndparams(scene.cluster, whole.groups.get(node.group), node)) for node in whole.nodes.values()
    }
    return sorted(found - {""})


def ask_oob(scene: GroupScene) -> Mapping[str, Any]:
    """Whether it has the programs that power nodes."""
    paths = oob_programs(scene)
    return {"oob-paths": paths} if paths else {}


def judge_oob(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of candidates."""
    if node.master_candidate:
        faults: list[str | None] = told.check(node, "oob-paths", [])
        for path, fault in zip(oob_programs(scene), faults, strict=False):
            text = f"out of band helper: {fault or path}"
            yield Verdict(VerifyCode.ENODEOOBPATH, node.name, text, fault is not None)


SUBJECTS = (
    Subject(judge_failed),
    Subject(judge_version, ask_version),
    Subject(judge_time),
    Subject(judge_setup, ask_setup),
    Subject(judge_modes, ask_modes),
    Subject(judge_scripts, ask_scripts),
    Subject(judge_oob, ask_oob),
)

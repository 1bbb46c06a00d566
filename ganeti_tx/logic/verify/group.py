"""Checking the nodes and instances of one group (reference: verify.json, phases)."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from ganeti_tx.logic.hook import Hook, HookAnswers, HookNodes
from ganeti_tx.logic.verify.copies import NO_ANSWER, copy_findings
from ganeti_tx.logic.verify.disks import disk_states
from ganeti_tx.logic.verify.exclusive import physical_sizes
from ganeti_tx.logic.verify.gathering import gather
from ganeti_tx.logic.verify.instances import judge_instance
from ganeti_tx.logic.verify.memory import judge_memory
from ganeti_tx.logic.verify.pools import orphans
from ganeti_tx.logic.verify.power import power_verdicts
from ganeti_tx.logic.verify.same_storage import shared_storage
from ganeti_tx.logic.verify.scene import GroupScene, Told
from ganeti_tx.logic.verify.subjects import SUBJECTS
from ganeti_tx.logic.verify.unit import GroupVerification
from ganeti_tx.logic.verify.verdict import Report, Verdict
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hooks import HookObject, HookStatus
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterVerifyGroup
from ganeti_tx.model.opcodes.types import OptionalCheck
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.model.verify_codes import VerifyCode


class LUClusterVerifyGroup(GroupVerification[OpClusterVerifyGroup]):
    """Tell every fault of a group's nodes and instances; true when there is none that counts, and all hooks did well."""

    hook = Hook("cluster-verify", HookObject.CLUSTER, pre=HookNodes.NONE, post=HookNodes.OBJECT)
    _report: Report

    async def check(self) -> None:
        """What it is under the locks."""
        await super().check()
        op = self.op
        self._report = Report(self.info, op.error_codes, op.ignore_errors, op.debug_simulate_errors, op.verbose)

    async def execute(self) -> bool:
        """Look at everything, in Ganeti's order."""
        scene, report = self.scene, self._report
        number = len(scene.nodes)
        report.heading(f"Verifying group '{scene.group.name}'")
        report.heading(f"Gathering data ({number} nodes)")
        report.heading(f"Gathering information about nodes ({number} nodes)")
        told = await gather(self, scene, self.context.now, self.op.verify_clutter)
        if scene.master not in scene.nodes:
            report.heading("Gathering information about the master node")
        report.heading(f"Gathering disk information ({number} nodes)")
        told = await self._with_disks(told)
        report.heading("Verifying configuration file consistency")
        report.tell(await self._copies())
        report.heading("Verifying node status")
        for node in scene.online:
            report.detail(f"Verifying node {node.name} ({role(scene, node)})")
            report.tell(node_verdicts(scene, told, node))
        report.tell(await power_verdicts(self, scene))
        report.tell(physical_sizes(scene, told))
        report.heading("Verifying instance status")
        for view in scene.instances:
            report.detail(f"Verifying instance {view.instance.name}")
            report.tell(judge_instance(scene, told, view))
        report.tell(await shared_storage(self, scene, told))
        report.heading("Verifying orphan volumes")
        for node in scene.online:
            report.tell(orphans(scene, told, node))
        if OptionalCheck.NPLUSONE_MEM not in self.op.skip_checks:
            report.heading("Verifying N+1 Memory redundancy")
            report.tell(judge_memory(scene, told))
        report.heading("Other Notes")
        for note in notes(scene):
            report.note(note)
        return report.passed

    async def _with_disks(self, told: Told) -> Told:
        ready = {name: outcome for name, outcome in told.checks.items() if outcome.error is None}
        others = {node.name: True for node in self.scene.everything.nodes.values() if node not in self.scene.nodes}
        states, faults = await disk_states(self, self.scene.instances, {**ready, **others})
        self._report.tell(
            Verdict(VerifyCode.ENODERPC, name, f"while getting disk information: {fault}")
            for name, fault in sorted(faults.items())
        )
        return evolve(told, disks=states)

    async def _copies(self) -> list[Verdict]:
        """Of each node that nothing is found of, and of the files together, what could have been."""
        found = await copy_findings(self, self.scene.online, self.scene.master)
        told = {(code, name) for code, name, _ in found}
        checked = [(VerifyCode.ENODEFILECHECK, node.name, NO_ANSWER) for node in self.scene.online]
        checked.append((VerifyCode.ECLUSTERFILECHECK, "", "Files are missing from node(s)"))
        right = [Verdict(*each, wrong=False) for each in checked if each[:2] not in told]
        return [*(Verdict(*each) for each in found), *right]

    # Its hooks

    async def object_nodes(self) -> Sequence[Node]:
        """All of the group."""
        return self.scene.nodes

    async def hook_values(self) -> Mapping[str, object]:
        """The tags of the cluster and of each node."""
        tags = {f"NODE_TAGS_{node.name}": " ".join(node.tags) for node in self.scene.nodes}
        return {"CLUSTER_TAGS": " ".join(self.scene.cluster.tags), **tags}

    def with_hooks(self, result: bool, answers: HookAnswers) -> bool:
        """What scripts said, and whether all did well."""
        self._report.heading("Hooks Results")
        for node, outcome in answers:
            if outcome.error is not None:
                text = f"Communication failure in hooks execution: {outcome.error}"
                self._report.tell([Verdict(VerifyCode.ENODEHOOKS, node.name, text)])
                continue
            for each in outcome.get():
                wrong = each.status is HookStatus.FAIL
                text = f"Script {each.script} failed, output:"
                self._report.tell([Verdict(VerifyCode.ENODEHOOKS, node.name, text, wrong)])
                if wrong:
                    for line in each.output.splitlines():
                        self.info(f"      {line}")
        return self._report.passed


def role(scene: GroupScene, node: Node) -> str:
    """What a node is, in Ganeti's words."""
    if node.uuid == scene.cluster.master_node:
        return "master"
    if node.master_candidate:
        return "master candidate"
    return "drained" if node.drained else "regular"


def node_verdicts(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """All that is said of one node; of one that does not answer just that."""
    error = told.checks[node.name].error
    yield Verdict(VerifyCode.ENODERPC, node.name, f"while contacting node: {error}", error is not None)
    if error is None:
        for subject in SUBJECTS:
            yield from subject.verdicts(scene, told, node)


def notes(scene: GroupScene) -> Iterator[str]:
    """What is no fault, but good to know."""
    templates = [TEMPLATES[view.disk_template] for view in scene.instances]
    alone = sum(each.has_disks and each.mirrored is Mirrored.NOT for each in templates)
    if alone:
        yield f"{alone} non-redundant instance(s) found."
    fixed = sum(not instance_beparams(scene.cluster, view.instance).auto_balance for view in scene.instances)
    if fixed:
        yield f"{fixed} non-auto-balanced instance(s) found."
    for flag in ("offline", "drained"):
        if count := sum(getattr(node, flag) for node in scene.nodes):
            yield f"{count} {flag} node(s) found."

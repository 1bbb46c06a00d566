"""Checking the configuration against itself, the cluster's certificates, and the job queue's directory."""

from collections.abc import Collection, Iterator, Sequence

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.cluster.certificates import unknown_nodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.unsent_files import unsent
from ganeti_tx.logic.verify.verdict import Report, Verdict
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model.group_scopes import GroupScopes, kept_text
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.model.listed_files import files_of_hypervisors, parameter_fault
from ganeti_tx.model.node_certificates import callers, coming
from ganeti_tx.model.opcodes import OpClusterVerifyConfig
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.interfaces import RpcError

#: Days that a certificate is still good for: below the one it is an error, below the other a warning.
ERROR_DAYS, WARNING_DAYS = 7, 30


class LUClusterVerifyConfig(LogicalUnit[OpClusterVerifyConfig]):
    """Tell every inconsistency of the configuration and what is at fault in the job queue; true when there is none that counts."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Nothing may change while it is looked at."""
        if level in (Level.INSTANCE, Level.NODEGROUP, Level.NODE):
            return (on_all(level),)
        return ()

    async def execute(self) -> bool:
        """Look."""
        op = self.op
        report = Report(self.info, op.error_codes, op.ignore_errors, op.debug_simulate_errors, op.verbose)
        faults = await self.config.verify()
        about_hypervisors = [fault for fault in faults if ": hvparams" in fault]
        report.heading("Verifying cluster config")
        report.tell(of_configuration(fault for fault in faults if fault not in about_hypervisors))
        report.tell(Verdict(VerifyCode.ECLUSTERFILECHECK, "", fault) for fault in self.context.queue_faults())
        report.tell(unsent_named(await self.config.everything(), self.context.listed_files()))
        report.tell(vain_scopes(await self.config.everything(), self.context.group_scopes()))
        report.heading("Verifying cluster certificate files")
        report.tell(await self._certificates())
        report.tell(map_entries(await self.config.everything()))
        report.heading("Verifying hypervisor parameters")
        report.tell(of_configuration(about_hypervisors))
        report.heading("Verifying all nodes belong to an existing group")
        report.tell(dangling(await self.config.everything()))
        unknown = await unknown_nodes(self)
        replaced = coming((await self.config.cluster()).candidate_certs)
        if unknown or replaced:
            report.heading("Other Notes")
        if replaced:
            report.note(
                f"Keys of {len(replaced)} node(s) are being replaced; if no such job runs, 'gnt-cluster renew-crypto' with "
                "the same options as before ends that."
            )
        if unknown:
            report.note(
                f"{len(unknown)} node(s) are known only by the authority's signature; 'gnt-cluster redist-conf' "
                "asks them for their certificates."
            )
        return report.passed

    async def _certificates(self) -> list[Verdict]:
        """Of those that the master has; that it does not answer is told elsewhere."""
        cluster = await self.config.cluster()
        master = await self.config.node(cluster.master_node)
        call = NodeVerify(checks={"certificates": None}, cluster_name=cluster.cluster_name)
        try:
            answer = await self.nodes.call(master, call)
        except RpcError:
            return []
        return [of_certificate(*found) for found in answer.get("certificates") or ()]


def of_configuration(faults: "Iterator[str] | Sequence[str]") -> Iterator[Verdict]:
    """What is wrong with it, if anything."""
    for fault in faults:
        yield Verdict(VerifyCode.ECLUSTERCFG, "", fault)


def unsent_named(everything: InstanceViews, listed: Collection[str]) -> Iterator[Verdict]:
    """The files that parameters of hypervisors name, and that nobody brings to the nodes."""
    for path in files_of_hypervisors(everything.cluster, everything.instances):
        if path not in listed and (fault := parameter_fault(path)):
            yield Verdict(VerifyCode.ECLUSTERFILECHECK, "", unsent(path, fault), warning=True)


def vain_scopes(everything: InstanceViews, scopes: GroupScopes) -> Iterator[Verdict]:
    """Those of the Remote API that keep people to groups which are not there, or not under these names any more."""
    names = {group.name for group in everything.groups.values()}
    for name, kept in sorted(scopes.items()):
        text = (
            f"{kept_text(name, kept)}: there is no such node group, so nothing is in that scope, and whatever will be in a"
            " group that is called so later"
        )
        yield Verdict(VerifyCode.ECLUSTERCFG, "", text, name not in names, warning=True)


def of_certificate(path: str, days: float, fault: str) -> Verdict:
    """One file."""
    if fault:
        return Verdict(VerifyCode.ECLUSTERCERT, "", f"{path} {fault}")
    state = f"expires in {days:.0f} days" if days > 0 else f"expired {-days:.0f} days ago"
    text = f"{path}: the certificate {state}"
    return Verdict(VerifyCode.ECLUSTERCERT, "", text, days < WARNING_DAYS, warning=days >= ERROR_DAYS)


def map_entries(everything: InstanceViews) -> Iterator[Verdict]:
    """Of the map of those who may make calls: nobody but candidates is in it; of nodes that are not there others tell."""
    for uuid in callers(everything.cluster.candidate_certs):
        if (node := everything.nodes.get(uuid)) is not None:
            text = (
                f"Node '{node.name}' is no master candidate, but has an entry in the cluster's map of master candidate "
                "certificates; 'gnt-node modify -C yes' and then '-C no' take that out"
            )
            yield Verdict(VerifyCode.ECLUSTERCLIENTCERT, "", text, not node.master_candidate)


def dangling(everything: InstanceViews) -> Iterator[Verdict]:
    """Nodes without a group, and instances without a node."""
    nodes, groups = everything.nodes, everything.groups
    lost = sorted(node.name for node in nodes.values() if node.group not in groups)
    text = f"the following nodes (and their instances) belong to a non existing group: {', '.join(lost)}"
    yield Verdict(VerifyCode.ECLUSTERDANGLINGNODES, "", text, bool(lost))
    homeless = sorted(
        each.name for each in everything.instances if not each.forthcoming and each.primary_node not in nodes
    )
    text = f"the following instances have a non-existing primary-node: {', '.join(homeless)}"
    yield Verdict(VerifyCode.ECLUSTERDANGLINGINST, "", text, bool(homeless))

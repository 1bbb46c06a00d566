"""Checking the configuration against itself and against its copies, and the job queue's directory."""

from collections.abc import Sequence

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.cluster.certificates import unknown_nodes
from ganeti_tx.logic.cluster.verify_address import address_findings
from ganeti_tx.logic.cluster.verify_copies import Finding, copy_findings, role_notes
from ganeti_tx.logic.cluster.verify_storage import storage_findings
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model.opcodes import OpClusterVerifyConfig
from ganeti_tx.model.verify_codes import VerifyCode


def verify_line(error_codes: bool, warning: bool, code: VerifyCode, kind: str, name: str, text: str) -> str:
    """One finding as `gnt-cluster verify` prints it (Ganeti 3.0 error table, cluster_verify_line_formats)."""
    severity = "WARNING" if warning else "ERROR"
    if error_codes:
        return f"  - {severity}:{code}:{kind}:{name}:{text}"
    return f"  - {severity}: {kind}{' ' + name if name else ''}: {text}"


class LUClusterVerifyConfig(LogicalUnit[OpClusterVerifyConfig]):
    """Tell every inconsistency of the configuration and what is at fault in the job queue; true when there is none that counts."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Nothing may change while it is looked at."""
        if level in (Level.INSTANCE, Level.NODEGROUP, Level.NODE):
            return (on_all(level),)
        return ()

    async def execute(self) -> bool:
        """Look."""
        self.info("* Verifying the directory of the job queue")
        queue_passed = self._tell(VerifyCode.ECLUSTERFILECHECK, self.context.queue_faults())
        self.info("* Verifying the copies on the nodes")
        copies_passed = self._tell_of_nodes(await copy_findings(self))
        self.info("* Verifying the directories of file storage")
        storage_passed = self._tell_of_nodes(await storage_findings(self))
        self._warn_of_nodes(await address_findings(self))
        self.info("* Verifying cluster config")
        passed = self._tell(VerifyCode.ECLUSTERCFG, await self.config.verify())
        notes = list(role_notes(await self.config.nodes()))
        if unknown := await unknown_nodes(self):
            notes.append(
                f"  - NOTICE: {len(unknown)} node(s) are known only by the authority's signature; 'gnt-cluster redist-conf' "
                "asks them for their certificates."
            )
        if notes:
            self.info("* Other Notes")
            for note in notes:
                self.info(note)
        return passed and storage_passed and copies_passed and queue_passed

    def _warn_of_nodes(self, findings: Sequence[Finding]) -> None:
        """Findings with which the cluster works on."""
        for code, node, text in findings:
            self.info(verify_line(self.op.error_codes, True, code, "node", node, text))

    def _tell_of_nodes(self, findings: Sequence[Finding]) -> bool:
        """Whether there are no findings that count."""
        for code, node, text in findings:
            ignored = code in self.op.ignore_errors
            self.info(verify_line(self.op.error_codes, ignored, code, "node" if node else "cluster", node, text))
        return all(code in self.op.ignore_errors for code, _, _ in findings)

    def _tell(self, code: VerifyCode, faults: Sequence[str]) -> bool:
        """Whether there are no faults that count."""
        ignored = code in self.op.ignore_errors
        for fault in faults:
            self.info(verify_line(self.op.error_codes, ignored, code, "cluster", "", fault))
        return ignored or not faults

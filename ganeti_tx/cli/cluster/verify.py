"""gnt-cluster verify."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ganeti_tx.cli.options import DRY_RUN, NODE_GROUP, PRIORITY, TABLE, VERBOSE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.submitted import follow_submitted
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.verify_codes import VerifyCode

ERROR_CODES = tuple(code.value for code in VerifyCode)

#: What is told of a fault, with error codes (Ganeti 3.0 error table); the fault may have lines of its own.
_LINE = re.compile(r"\s*- (ERROR|WARNING):([^:]*):([^:]*):([^:]*):(.*)", re.DOTALL)
FINDING = ("job", "severity", "code", "item_type", "item", "message")


def verify(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Check the configuration and every node group, each in a job of its own; failure when a check found a fault."""
    op = opcode(
        "OP_CLUSTER_VERIFY",
        verbose=unless(False, options.verbose),
        error_codes=unless(False, options.error_codes or session.document is not None),
        debug_simulate_errors=unless(False, options.simulate_errors),
        skip_checks=["nplusone_mem"] if options.skip_nplusone_mem else None,
        ignore_errors=list(dict.fromkeys(options.ignore_errors)) or None,
        group_name=options.nodegroup,
        verify_clutter=unless(False, options.verify_clutter),
    )
    result = run_opcode(session, options, op)
    if result is None:
        return ExitCode.SUCCESS  # a dry run submits nothing
    results, failed = follow_submitted(session, result["jobs"])
    if session.document is not None:
        session.emit(findings(session, (job_id for accepted, job_id in result["jobs"] if accepted)), FINDING)
    if failed:
        session.print(f"{failed} job(s) failed while verifying the cluster.")
    return ExitCode.SUCCESS if not failed and all(all(each) for each in results.values()) else ExitCode.FAILURE


def findings(session: Session, job_ids: Iterable[int]) -> list[dict[str, Any]]:
    """What the jobs have found, for programs."""
    found = []
    for job_id in job_ids:
        ((logs,),) = session.client.query_jobs([job_id], ["oplog"])
        texts = (str(message) for log in logs for _serial, _stamp, _kind, message in log)
        found += [_finding(job_id, *told.groups()) for told in map(_LINE.match, texts) if told]
    return found


def _finding(job_id: int, severity: str, code: str, item_type: str, item: str, message: str) -> dict[str, Any]:
    """@param item: the name, or what stands for that of no single one"""
    name = None if item in ("", "None") else item
    return dict(zip(FINDING, (job_id, severity, code, item_type, name, message), strict=True))


VERIFY = Command(
    verify,
    (),
    (
        VERBOSE,
        switch("--debug-simulate-errors", "simulate_errors", "report every check as failed"),
        switch("--error-codes", "error_codes", "show errors in a form for programs, with their codes"),
        switch("--no-nplus1-mem", "skip_nplusone_mem", "do not check whether a node's instances fit elsewhere"),
        DRY_RUN,
        PRIORITY,
        NODE_GROUP,
        Option(
            ("-I", "--ignore-errors"), "ignore_errors", "only warn of errors with this code; may be repeated", "choice",
            [], "append", ERROR_CODES,
        ),
        switch("--verify-ssh-clutter", "verify_clutter", "look for leftover keys in the SSH files"),
    ),
    prints=TABLE,
)  # fmt: skip

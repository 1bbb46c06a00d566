"""gnt-cluster verify."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, NODE_GROUP, PRIORITY, VERBOSE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.submitted import follow_submitted
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.verify_codes import VerifyCode

ERROR_CODES = tuple(code.value for code in VerifyCode)


def verify(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Check the configuration and every node group, each in a job of its own; failure when a check found a fault."""
    op = opcode(
        "OP_CLUSTER_VERIFY",
        verbose=unless(False, options.verbose),
        error_codes=unless(False, options.error_codes),
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
    if failed:
        session.print(f"{failed} job(s) failed while verifying the cluster.")
    return ExitCode.SUCCESS if not failed and all(all(each) for each in results.values()) else ExitCode.FAILURE


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
)  # fmt: skip

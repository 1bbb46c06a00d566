"""gnt-cluster verify."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, NODE_GROUP, PRIORITY, VERBOSE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import follow_all, opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode

ERROR_CODES = (
    "ECLUSTERCERT", "ECLUSTERCFG", "ECLUSTERCLIENTCERT", "ECLUSTERDANGLINGINST", "ECLUSTERDANGLINGNODES",
    "ECLUSTERFILECHECK", "EEXTAGS", "EGROUPDIFFERENTPVSIZE", "EINSTANCEBADNODE", "EINSTANCEDOWN",
    "EINSTANCEFAULTYDISK", "EINSTANCELAYOUT", "EINSTANCEMISSINGCFGPARAMETER", "EINSTANCEMISSINGDISK",
    "EINSTANCEPOLICY", "EINSTANCESPLITGROUPS", "EINSTANCEUNSUITABLENODE", "EINSTANCEWRONGNODE", "ENODEDRBD",
    "ENODEDRBDHELPER", "ENODEDRBDVERSION", "ENODEFILECHECK", "ENODEFILESTORAGEPATHS", "ENODEFILESTORAGEPATHUNUSABLE",
    "ENODEGLUSTERSTORAGEPATHUNUSABLE", "ENODEHOOKS", "ENODEHV", "ENODELVM", "ENODEN1", "ENODENET", "ENODEOOBPATH",
    "ENODEORPHANINSTANCE", "ENODEORPHANLV", "ENODEOS", "ENODERPC", "ENODESETUP", "ENODESHAREDFILESTORAGEPATHUNUSABLE",
    "ENODESSH", "ENODETIME", "ENODEUSERSCRIPTS", "ENODEVERSION",
)  # fmt: skip


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
    answers = result["jobs"]
    for accepted, answer in answers:
        if not accepted:
            session.warn(f"Failed to submit a job that verifies: {answer}")
    job_ids = [answer for accepted, answer in answers if accepted]
    session.print(f"Submitted jobs {', '.join(map(str, job_ids))}")
    passed = [_passed(session, job_id) for job_id in job_ids]
    return ExitCode.SUCCESS if all(passed) and len(job_ids) == len(answers) else ExitCode.FAILURE


def _passed(session: Session, job_id: int) -> bool:
    session.print(f"Waiting for job {job_id} ...")
    results = follow_all(session, job_id, "verification")
    return results is not None and all(results)


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

"""gnt-instance batch-create."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import DRY_RUN, IALLOCATOR, ONE_FILE, PRIORITY, SUBMITTING, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import follow_one, opcode, run_opcode
from ganeti_tx.cli.text_files import read_text
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate

Definition = dict[str, Any]


def batch_create(session: Session, options: Parsed, paths: Sequence[str]) -> int:
    """Submit all instances of a file, and follow their jobs; failure when one of them has failed, or got no nodes."""
    try:
        instances = definitions(session, paths[0])
    except ValueError as error:
        session.warn(str(error))
        return ExitCode.FAILURE
    op = opcode("OP_INSTANCE_MULTI_ALLOC", instances=instances, iallocator=options.iallocator)
    answer = run_opcode(session, options, op) or {}
    jobs = answer.get("jobs", [])
    if ids := [job_id for taken, job_id in jobs if taken]:
        session.jobs = dict.fromkeys(ids)
        session.print(f"Submitted jobs {', '.join(map(str, ids))}")
    errors = sum(not succeeded(session, taken, what) for taken, what in jobs)
    if failed := answer.get("failed", []):
        session.warn(f"No nodes were found for {', '.join(failed)}")
    if errors:
        session.print(f"There were {errors} errors during the creation.")
    if errors or failed:
        return ExitCode.FAILURE
    session.print("All instances created successfully.")
    return ExitCode.SUCCESS


def succeeded(session: Session, taken: bool, what: Any) -> bool:
    """Follow one job; its error is shown, the others go on."""
    if not taken:
        session.refusals.append(str(what))
        session.warn(f"Failed to submit a job: {what}")
        return False
    session.print(f"Waiting for job {what} ...")
    return follow_one(session, what, f"Job {what} has failed") is not None


def definitions(session: Session, path: str) -> list[Definition]:
    """The opcodes of the file's instances.

    @raise ValueError: it cannot be read, or has something else. @raise OpPrereqError: an instance has unknown keys.
    """
    try:
        given = json.loads(read_text(path, session.stdin))
    except (OpPrereqError, ValueError, RecursionError) as error:
        raise ValueError(f"Can't parse the instance definition file: {error}") from None
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise ValueError("The instance definition file is not List of Dictionary")
    return [definition(index, each) for index, each in enumerate(given)]


def definition(index: int, given: Mapping[str, Any]) -> Definition:
    """The opcode of one. @raise OpPrereqError: it has keys that nobody knows."""
    unknown = sorted(set(given) - set(OpInstanceCreate.__struct_fields__) - {"OP_ID"})
    if unknown:
        raise OpPrereqError(f"Unknown fields in definition {index}: {', '.join(unknown)}", ECode.INVAL)
    return {**given, "OP_ID": "OP_INSTANCE_CREATE"}


BATCH_CREATE = Command(batch_create, ONE_FILE, (DRY_RUN, PRIORITY, IALLOCATOR, *SUBMITTING))

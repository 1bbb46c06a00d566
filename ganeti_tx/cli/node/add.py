"""gnt-node add and remove."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.interrupts import held_back
from ganeti_tx.cli.options import (
    DISK_STATE,
    DRY_RUN,
    HYPERVISOR_STATE,
    MASTER_CAPABLE,
    NODE_GROUP,
    NODE_PARAMETERS,
    ONE_HOST,
    ONE_NODE,
    PRIORITY,
    SECONDARY_IP,
    VERBOSE,
    VM_CAPABLE,
    Command,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, prepared, run_opcode, unless
from ganeti_tx.cli.typed_options import by_ident, by_place
from ganeti_tx.errors import ExitCode, GanetiError, JobCanceled, LuxiError


def add(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Set the node up so that it trusts the cluster, then add it to the configuration; all or nothing.

    What can be known before the node is touched is asked of the opcode itself, by a dry run.
    """
    op = opcode(
        "OP_NODE_ADD",
        node_name=names[0],
        node_setup=unless(False, options.node_setup),
        readd=unless(False, options.readd),
        secondary_ip=options.secondary_ip,
        group=options.nodegroup,
        master_capable=options.master_capable,
        vm_capable=options.vm_capable,
        ndparams=types.typed(options.ndparams or {}, types.NODE, "node") or None,
        hv_state=by_ident("--hypervisor-state", options.hv_state, {}, "hypervisor state") or None,
        disk_state=by_place("--disk-state", options.disk_state, "disk state") or None,
    )
    check = session.client.submit_job([prepared(session, options, {**op, "dry_run": True})])
    follow(session, check, quiet=True)
    request = _join_request(names[0], options, op)
    try:
        status = run_bootstrap(session, "node-join", request)
    except KeyboardInterrupt:  # it may have come when all was done
        with held_back():
            run_bootstrap(session, "node-unjoin", request)
        raise
    if status != ExitCode.SUCCESS:
        return status
    _put_in(session, options, op, request)
    return ExitCode.SUCCESS


def _join_request(name: str, options: Parsed, op: OpCode) -> dict[str, Any]:
    switches = ("readd", "ssh_key_check", "force_join")
    return {
        "node_name": name,
        "secondary_ip": op.get("secondary_ip"),
        "ssh_port": op.get("ndparams", {}).get("ssh_port"),
        **{switch: getattr(options, switch) for switch in switches},
    }


def _put_in(session: Session, options: Parsed, op: OpCode, request: dict[str, Any]) -> None:
    """@raise GanetiError, KeyboardInterrupt: the node was not added, and is no longer set up unless it says so."""
    job_id = None
    try:
        job_id = session.client.submit_job([prepared(session, options, op)])
        follow(session, job_id, goes_on=False)
    except (Exception, KeyboardInterrupt) as error:
        with held_back():
            nothing = job_id is None or _came_to_nothing(session, job_id)
            if nothing:
                run_bootstrap(session, "node-unjoin", request)
        if nothing and isinstance(error, KeyboardInterrupt):
            raise JobCanceled("interrupted, so the node was not added") from None
        raise


def _came_to_nothing(session: Session, job_id: int) -> bool:
    """Whether the job, which is cancelled if it has not ended, has added no node."""
    try:
        session.client.cancel_job(job_id)
        follow(session, job_id, quiet=True)
    except LuxiError as error:
        session.warn(f"Whether job {job_id} has added the node is not known, so it stays set up: {error}")
        return False
    except GanetiError:
        return True
    session.warn(f"Job {job_id} has added the node all the same")
    return False


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Take one node out of the cluster."""
    run_opcode(session, options, opcode("OP_NODE_REMOVE", node_name=names[0]))
    return ExitCode.SUCCESS


ADD = Command(
    add,
    ONE_HOST,
    (
        SECONDARY_IP,
        switch("--readd", "readd", "set up again a node that the cluster knows"),
        negative("--no-ssh-key-check", "ssh_key_check", "do not check the node's SSH key"),
        switch("--force-join", "force_join", "join even a node that looks like part of a cluster"),
        negative("--no-node-setup", "node_setup", "do not set up SSH on the node"),
        VERBOSE,
        NODE_GROUP,
        PRIORITY,
        MASTER_CAPABLE,
        VM_CAPABLE,
        NODE_PARAMETERS,
        HYPERVISOR_STATE,
        DISK_STATE,
    ),
)
REMOVE = Command(remove, ONE_NODE, (DRY_RUN, PRIORITY))

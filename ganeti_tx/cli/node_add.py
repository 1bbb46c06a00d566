"""gnt-node add and remove."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.options import (
    DISK_STATE,
    DRY_RUN,
    HYPERVISOR_STATE,
    NODE_GROUP,
    NODE_PARAMETERS,
    ONE_HOST,
    ONE_NODE,
    PRIORITY,
    SECONDARY_IP,
    VERBOSE,
    Command,
    Option,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError


def add(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Set the node up so that it trusts the cluster, then add it to the configuration."""
    name = _checked_name(session, names[0], readd=options.readd)
    params = {
        "readd": unless(False, options.readd),
        "secondary_ip": options.secondary_ip,
        "group": options.nodegroup,
        "master_capable": options.master_capable,
        "vm_capable": options.vm_capable,
        "ndparams": types.typed(options.ndparams or {}, types.NODE, "node") or None,
        "hv_state": dict(options.hv_state) or None,
        "disk_state": dict(options.disk_state) or None,
    }
    status = run_bootstrap(session, "node-join", _join_document(name, options, params))
    if status != ExitCode.SUCCESS:
        return status
    node_setup = unless(False, options.node_setup)
    run_opcode(session, options, opcode("OP_NODE_ADD", node_name=name, node_setup=node_setup, **params))
    return ExitCode.SUCCESS


def _join_document(name: str, options: Parsed, params: dict[str, Any]) -> dict[str, Any]:
    switches = ("readd", "ssh_key_check", "force_join", "node_setup", "verbose", "debug")
    return {
        "node_name": name,
        "secondary_ip": params["secondary_ip"],
        "ndparams": params["ndparams"] or {},
        **{switch: getattr(options, switch) for switch in switches},
    }


def _checked_name(session: Session, name: str, *, readd: bool) -> str:
    """The name, the node's full one when it is added again.

    @raise OpPrereqError: a new node is known already, or one to be added again is not.
    """
    known = _known_name(session, name)
    if readd and known is None:
        raise OpPrereqError(f"Node {name!r} is not in the cluster, so it cannot be added again", ECode.NOENT)
    if not readd and known is not None:
        raise OpPrereqError(f"Node {known} is already in the cluster; use --readd to add it again", ECode.EXISTS)
    return known or name


def _known_name(session: Session, name: str) -> str | None:
    rows = session.client.query_nodes([name], ["name"])
    return rows[0][0] if rows else None


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Take one node out of the cluster."""
    run_opcode(session, options, opcode("OP_NODE_REMOVE", node_name=names[0]))
    return ExitCode.SUCCESS


def _yes_no(flag: str, dest: str, help: str) -> Option:
    return Option((flag,), dest, help, "bool", metavar="yes|no")


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
        _yes_no("--master-capable", "master_capable", "whether the node may become master"),
        _yes_no("--vm-capable", "vm_capable", "whether the node may hold instances"),
        NODE_PARAMETERS,
        HYPERVISOR_STATE,
        DISK_STATE,
    ),
)
REMOVE = Command(remove, ONE_NODE, (DRY_RUN, PRIORITY))

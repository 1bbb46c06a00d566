"""gnt-node modify."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.options import (
    AUTO_PROMOTE,
    DISK_STATE,
    DRY_RUN,
    FORCE,
    HYPERVISOR_STATE,
    MASTER_CAPABLE,
    NODE_PARAMETERS,
    ONE_NODE,
    PRIORITY,
    SECONDARY_IP,
    SUBMITTING,
    VM_CAPABLE,
    Command,
    Option,
    yes_no,
)
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_job, unless
from ganeti_tx.cli.typed_options import by_ident, by_place
from ganeti_tx.errors import ExitCode

#: Programs are not asked, as they could not answer.
BACK_ONLINE = (
    "You are setting this node online manually. If the configuration has changed, this can cause issues such as split"
    " brain. To safely bring a node back online, please use --readd instead. If you are confident that the configuration"
    " hasn't changed, continue?"
)
_SETTINGS = ("master_candidate", "drained", "offline", "master_capable", "vm_capable", "secondary_ip")


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change one node, and show what is new."""
    given: dict[str, Any] = {
        **{name: getattr(options, name) for name in _SETTINGS},
        "powered": options.node_powered,
        "ndparams": types.typed(options.ndparams or {}, types.NODE, "node") or None,
        "hv_state": by_ident("--hypervisor-state", options.hv_state, {}, "hypervisor state") or None,
        "disk_state": by_place("--disk-state", options.disk_state, "disk state") or None,
    }
    if options.offline is False and not options.force and session.interactive and is_offline(session, names[0]):
        confirm(session, BACK_ONLINE, "--force")
    force = unless(False, options.force)
    ops = []
    if options.nodegroup is not None:
        ops.append(opcode("OP_GROUP_ASSIGN_NODES", group_name=options.nodegroup, nodes=[names[0]], force=force))
    if any(value is not None for value in given.values()):
        switches = {"force": force, "auto_promote": unless(False, options.auto_promote)}
        ops.append(opcode("OP_NODE_SET_PARAMS", node_name=names[0], **switches, **given))
    if not ops:
        raise UsageError("nothing to change: give at least one of the options, such as --offline=yes")
    result = run_job(session, options, ops)[-1]
    if result:
        session.print(f"Modified node {names[0]}")
        for name, value in result:
            session.print(f" - {name:<5} -> {value}")
    return ExitCode.SUCCESS


def is_offline(session: Session, name: str) -> bool:
    """Whether a node is marked so; one that there is not is not."""
    rows = session.client.query("node", ["name", "offline"], None)["data"]
    names = {row[0][1] for row in rows if row[1][1]}
    return name in names or any(each.startswith(f"{name}.") for each in names)


#: design-2.3, node groups; Ganeti 3 has `gnt-group assign-nodes` for it.
GROUP = Option(
    ("-g", "--node-group"), "nodegroup", "move the node to this group", "string", metavar="<nodegroup>", own=True
)

MODIFY = Command(
    modify,
    ONE_NODE,
    (
        FORCE,
        *SUBMITTING,
        yes_no("-C --master-candidate", "master_candidate", "whether the node keeps the configuration and the queue"),
        yes_no("-D --drained", "drained", "whether the node is to be emptied, and takes no new instances"),
        yes_no("-O --offline", "offline", "whether the node is out of service, and is not talked to"),
        MASTER_CAPABLE,
        VM_CAPABLE,
        SECONDARY_IP,
        AUTO_PROMOTE,
        DRY_RUN,
        PRIORITY,
        NODE_PARAMETERS,
        yes_no("--node-powered", "node_powered", "whether the node has power"),
        HYPERVISOR_STATE,
        DISK_STATE,
        GROUP,
    ),
)

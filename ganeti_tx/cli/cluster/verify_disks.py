"""gnt-cluster verify-disks."""

from collections.abc import Mapping, Sequence

from ganeti_tx.cli.failures import describe
from ganeti_tx.cli.options import NODE_GROUP, PRIORITY, TREE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.submitted import follow_submitted
from ganeti_tx.errors import ExitCode, GanetiError

#: Volumes by instance, each with its node.
Missing = Mapping[str, Sequence[Sequence[str]]]


def verify_disks(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Look for broken disks in every group, and make those ready again that can be; failure when something stays broken."""
    result = run_opcode(session, options, opcode("OP_CLUSTER_VERIFY_DISKS", group_name=options.nodegroup))
    results, failed = follow_submitted(session, result["jobs"])
    well = not failed
    found = []
    for job_id, [[faults, broken, missing]] in results.items():
        for node, reason in sorted(faults.items()):
            session.warn(f"Error gathering data on node {node}: {reason}")
        activated = [_activated(session, options, name) for name in broken if name not in missing]
        found.append({"job": job_id, "node_faults": faults, "instances": broken, "missing_volumes": missing})
        well = _volumes_are_there(session, missing) and all(activated) and not faults and well
        if not broken:
            session.print("No disks need to be activated.")
    if session.document is not None:
        session.emit(found)
    return ExitCode.SUCCESS if well else ExitCode.FAILURE


def _activated(session: Session, options: Parsed, name: str) -> bool:
    session.print(f"Activating disks for instance '{name}'")
    try:
        run_opcode(session, options, opcode("OP_INSTANCE_ACTIVATE_DISKS", instance_name=name))
    except GanetiError as error:
        session.warn(f"Error activating disks for instance {name}: {describe(error)[1]}")
        return False
    return not _split(session, options, name)


def _split(session: Session, options: Parsed, name: str) -> bool:
    """Whether disks are ready, and yet never become whole by themselves; the job that made them ready has told what helps."""
    data = run_opcode(session, options, opcode("OP_INSTANCE_QUERY_DATA", instances=[name], static=False))
    split = [disk for disk in data[name]["disks"] if disk.get("split_brain")]
    for disk in split:
        session.warn(f"{disk['iv_name']} of instance {name} stays broken: {disk['papart']}")
    return bool(split)


def _volumes_are_there(session: Session, missing: Missing) -> bool:
    for name, volumes in sorted(missing.items()):
        session.warn(f"Instance {name} has missing logical volumes:")
        for node, volume in volumes:
            session.warn(f"  node {node}: {volume}")
        verb = "replace-disks" if _is_mirrored(session, name) else "recreate-disks"
        session.warn(f"  run 'gnt-instance {verb}' for {name}, or restore them, and verify again")
    return not missing


def _is_mirrored(session: Session, name: str) -> bool:
    """Whether there is another copy; of one that is gone meanwhile it does not matter."""
    rows = session.client.query("instance", ["snodes"], ["==", "name", name])["data"]
    return any(nodes for ((_, nodes),) in rows)


VERIFY_DISKS = Command(verify_disks, (), (PRIORITY, NODE_GROUP), prints=TREE)

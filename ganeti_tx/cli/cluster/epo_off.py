"""Switching nodes off: their instances stop, they are marked offline, their power goes; the master is left to the administrator."""

from collections.abc import Sequence

from ganeti_tx.cli.cluster.epo_nodes import EpoNode, instances_of, run_jobs
from ganeti_tx.cli.cluster.watcher import paused_until
from ganeti_tx.cli.node.power import OOB_TIMEOUT
from ganeti_tx.cli.options import SHUTDOWN_TIMEOUT
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, unless

#: Seconds for which the watcher does not start what was stopped, for the administrator to power the master off.
PAUSE = 3600.0


def switch_off(session: Session, options: Parsed, nodes: Sequence[EpoNode]) -> bool:
    """Whether all went as it should. What is stopped stays recorded as what should run, so that it comes back."""
    pause_watcher(session)
    if failed := _stop(session, options, nodes):
        session.warn(
            f"{len(failed)} instance(s) could not be stopped, so no node was switched off: {', '.join(failed)}; stop"
            " them by hand ('gnt-instance shutdown --no-remember --force'), or mark a node that is dead as offline, and say"
            " it again"
        )
        return False
    # Those that are no candidates first: nobody is promoted who is switched off next.
    others = sorted((node for node in nodes if not node.is_master), key=lambda node: node.is_candidate)
    failed = [name for node in others for name in run_jobs(session, options, {node.name: _ops(options, node)})]
    if failed:
        session.warn(f"These nodes may still have power: {', '.join(failed)}")
    _tell(session, nodes)
    return not failed


def pause_watcher(session: Session) -> None:
    """A longer pause stays."""
    (end,) = session.client.query_config_values(["watcher_pause"])
    wanted = session.now() + PAUSE
    if end is None or end < wanted:
        session.print(paused_until(session.client.set_watcher_pause(wanted)))


def _stop(session: Session, options: Parsed, nodes: Sequence[EpoNode]) -> list[str]:
    """Those that could not be stopped."""
    served = [node for node in nodes if not node.is_offline]
    jobs = {
        name: [
            opcode(
                "OP_INSTANCE_SHUTDOWN",
                instance_name=name,
                no_remember=True,
                timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
            )
        ]
        for name in instances_of(session, served, running=True)
    }
    return run_jobs(session, options, jobs)


def _ops(options: Parsed, node: EpoNode) -> list[OpCode]:
    """Of one node's job."""
    ops = []
    if not node.is_offline:
        ops.append(opcode("OP_NODE_SET_PARAMS", node_name=node.name, offline=True, auto_promote=True, force=True))
    if node.has_program:
        ops.append(
            opcode(
                "OP_OOB_COMMAND",
                node_names=[node.name],
                command="power-off",
                timeout=unless(OOB_TIMEOUT.default, options.oob_timeout),
            )
        )
    return ops


def _tell(session: Session, nodes: Sequence[EpoNode]) -> None:
    """What is left to be done by hand."""
    left = [node.name for node in nodes if not node.has_program and not node.is_master]
    if left:
        session.print(f"Prepared, to be powered off by hand: {', '.join(left)}")
    for node in nodes:
        if node.is_master:
            session.print(f"The master {node.name} is prepared, and can be powered off by hand now")

"""Bringing nodes back: they get power, are waited for and used again, and what should run there is started."""

from collections.abc import Sequence

from ganeti_tx.cli.cluster.epo_nodes import EpoNode, instances_of, run_jobs
from ganeti_tx.cli.cluster.watcher import paused_until
from ganeti_tx.cli.node.power import OOB_TIMEOUT
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, unless

#: Seconds for machines to boot until their node daemons are up, and between two looks.
BOOT_LIMIT = 600.0
INTERVAL = 2.0


def bring_back(session: Session, options: Parsed, nodes: Sequence[EpoNode]) -> bool:
    """Whether all went as it should. One node that stays down does not keep the others from being used."""
    failed = _power_on(session, options, nodes)
    offline = [node for node in nodes if node.is_offline]
    up = _wait(session, [node for node in offline if node.name not in failed])
    silent = [node.name for node in offline if node not in up and node.name not in failed]
    if silent:
        session.warn(f"These nodes did not come up within {BOOT_LIMIT:g} seconds and stay offline: {', '.join(silent)}")
    used = {node.name: [opcode("OP_NODE_SET_PARAMS", node_name=node.name, offline=False)] for node in up}
    refused = [name for name in used for name in run_jobs(session, options, {name: used[name]})]
    ready = [node for node in nodes if not node.is_offline or (node in up and node.name not in refused)]
    starts = {
        name: [opcode("OP_INSTANCE_STARTUP", instance_name=name, no_remember=True)]
        for name in instances_of(session, ready, running=False)
    }
    down = run_jobs(session, options, starts)
    _tell_of_watcher(session)
    return not (failed or silent or refused or down)


def _power_on(session: Session, options: Parsed, nodes: Sequence[EpoNode]) -> set[str]:
    """Switch them on one after the other; the names of those that failed."""
    powered = [node.name for node in nodes if node.has_program and not node.is_master]
    failed: set[str] = set()
    for number, name in enumerate(powered):
        if number:
            session.sleep(options.power_delay)
        op = opcode(
            "OP_OOB_COMMAND",
            node_names=[name],
            command="power-on",
            timeout=unless(OOB_TIMEOUT.default, options.oob_timeout),
        )
        failed.update(run_jobs(session, options, {name: [op]}))
    return failed


def _wait(session: Session, nodes: Sequence[EpoNode]) -> list[EpoNode]:
    """Those whose node daemons are up, in the order of the nodes; some time is left to them."""
    if nodes:
        session.print(f"Waiting for {len(nodes)} node(s) to come up ...")
    deadline = session.now() + BOOT_LIMIT
    up: set[str] = set()
    while True:
        up |= {node.name for node in nodes if node.name not in up and session.listens(node.address)}
        if len(up) == len(nodes) or session.now() >= deadline:
            return [node for node in nodes if node.name in up]
        session.sleep(INTERVAL)


def _tell_of_watcher(session: Session) -> None:
    (end,) = session.client.query_config_values(["watcher_pause"])
    if end is not None:
        session.print(f"{paused_until(end)} 'gnt-cluster watcher continue' ends that")

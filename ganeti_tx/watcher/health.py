"""A node that the cluster has given up stops its machines and mirrors, so that they may run elsewhere (maintain_node_health)."""

from collections.abc import Callable

from ganeti_tx.confd import questions
from ganeti_tx.confd.blocking import BlockingClient
from ganeti_tx.confd.messages import NodeRole
from ganeti_tx.confd.peers import candidates, read_key
from ganeti_tx.errors import GanetiError
from ganeti_tx.node.hypervisor.kept import kept_machines
from ganeti_tx.runtime.machine_work import CLEAR, LIMIT, STOP, machines_argv
from ganeti_tx.watcher.node import WatchedNode


def maintain_health(node: WatchedNode, ask: Callable[[WatchedNode], NodeRole]) -> None:
    """Cut machines and mirrors off when the candidates say that this node is offline. Without their answer nothing is done."""
    if node.ssconf("maintain_node_health") != "True":
        return
    try:
        role = ask(node)
    except GanetiError as error:
        node.log.warning(f"whether this node is offline is not known: {error}")
        return
    if role is NodeRole.OFFLINE:
        node.log.warning("the cluster has marked this node offline; its machines are cut off")
        with_machines(node, STOP)


def own_role(node: WatchedNode) -> NodeRole:
    """What the candidates say that this node is. @raise GanetiError: nobody answers, or there is nobody to ask."""
    client = BlockingClient(read_key(node.paths.hmac_key), candidates(node.paths))
    return client.ask(questions.node_role(node.name)).value


def clear_leftovers(node: WatchedNode) -> None:
    """Remove what machines left whose instances are gone from the cluster."""
    if kept_machines(node.paths) - set(node.ssconf("instance_list").split()):
        with_machines(node, CLEAR)


def with_machines(node: WatchedNode, what: str) -> None:
    """Run the program that does it, and log what it says."""
    status, said = node.run(machines_argv(what), node.environ, LIMIT)
    for line in said.splitlines():
        node.log.info(line)
    if status != 0:
        node.log.error(f"not all was done for the machines of this node: status {status}")

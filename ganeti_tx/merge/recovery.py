"""A cluster that a merge has left half done when it was killed: it is as before again, then it can be merged anew."""

from collections.abc import Callable

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.merge.other import Other
from ganeti_tx.merge.own import OwnCluster


def recover(own: OwnCluster, other: Other, say: Callable[[str], None]) -> None:
    """Take back what such a merge has done. @raise GanetiError: it cannot be, or a node has been added already."""
    theirs = other.config.nodes
    present = {uuid: node for uuid, node in own.config().nodes.items() if uuid in theirs}
    in_service = [node.name for node in present.values() if not node.offline]
    if in_service:
        raise BootstrapError(f"{other.name}: {', '.join(sorted(in_service))} is in service in this cluster already")
    if present.keys() == theirs.keys() and all(node.name == theirs[uuid].name for uuid, node in present.items()):
        say(f"Taking back what an earlier merge has left of {other.name} in this cluster")
        own.part(other.config)
    if other.told.halted:
        say(f"Starting the daemons of {other.name}, which an earlier merge has stopped")
        was_drained, other.stopped = other.told.was_drained, other.told.stopped
        other.restore()
        if not was_drained:
            other.undrain()
        other.start_instances()
        other.ask_again()

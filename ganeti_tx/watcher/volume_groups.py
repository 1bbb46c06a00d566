"""The volume groups of a node group: one that lost physical volumes is told to do without them (design-2.0, LVM self-repair).

That is done once, when all were whole at the last look and one node alone is broken now; the job itself looks whether every
disk has a good copy elsewhere (design-2.1, automated disk repairs).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.luxi.calls import Calls
from ganeti_tx.watcher.jobs import WatcherJobs
from ganeti_tx.watcher.log import Log

#: What every line begins with, for those who watch the log.
MARK = "volume group repair"
KIND = "lvm-vg"
LOW_PRIORITY = 10


@frozen
class VolumeGroups:
    """The cluster's volume group `name` on the nodes that can have instances and are not offline."""

    name: str
    client: Calls
    jobs: WatcherJobs
    log: Log

    def faults(self, nodes: Sequence[str]) -> Mapping[str, str] | None:
        """What is wrong with it, by node, nothing where all are whole; None if a node does not tell."""
        op = {
            "OP_ID": "OP_NODE_QUERY_STORAGE",
            "storage_type": KIND,
            "nodes": list(nodes),
            "name": self.name,
            "output_fields": ["node", "fault"],
            "priority": LOW_PRIORITY,
        }
        job = self.jobs.submit(op, "volume groups are checked from time to time")
        for results in self.jobs.follow([] if job is None else [job]).values():
            told: dict[str, str] = dict(results[0])
            if silent := sorted(set(nodes) - set(told)):
                self.log.warning(
                    f"{MARK}: nodes {', '.join(silent)} do not tell of volume group {self.name}; nothing is done"
                )
                return None
            return {node: fault for node, fault in told.items() if fault}
        return None

    def mend(self, faults: Mapping[str, str], whole_before: bool | None) -> None:
        """Do what is to be done, once it is remembered that it is."""
        node = to_mend(faults, whole_before)
        if node is not None:
            self.log.warning(f"{MARK}: node {node} is mended: {faults[node]}")
            op: dict[str, Any] = {
                "OP_ID": "OP_REPAIR_NODE_STORAGE",
                "node_name": node,
                "storage_type": KIND,
                "name": self.name,
            }
            job = self.jobs.submit(op, f"volume group {self.name} of {node} lacks physical volumes")
            done = self.jobs.follow([] if job is None else [job])
            self.log.warning(f"{MARK}: node {node} {'is mended' if done else 'is left as it is'}")
        elif faults:
            self.log.warning(f"{MARK}: nodes {', '.join(sorted(faults))} are broken; they are left to an administrator")


def to_mend(faults: Mapping[str, str], whole_before: bool | None) -> str | None:
    """The node to mend: the only one that is broken, when all were whole before.

    @param whole_before: None when that is not known.
    """
    return next(iter(faults)) if whole_before and len(faults) == 1 else None

"""What the nodes' SSH is to be like."""

from typing import Any

from attrs import frozen

from ganeti_tx.model.node import Node


@frozen
class SshSetup:
    """What all nodes know, and whose keys those let in that take part (by uuid) in the cluster's SSH set-up."""

    known_hosts: str
    authorized: dict[str, str]
    taking_part: frozenset[str]

    def for_node(self, node: Node) -> tuple[str, dict[str, str] | None]:
        """Known hosts, and keys by the name of the node whose root has them; None where root's file is left alone."""
        return self.known_hosts, self.authorized_on(node)

    def authorized_on(self, node: Node) -> dict[str, str] | None:
        """The second of these."""
        return self.authorized if node.uuid in self.taking_part else None

    def checks(self, node: Node) -> dict[str, Any]:
        """What a node is asked of its files: what is missing or wrong, and what is too much."""
        return {"ssh-files": self.for_node(node), "ssh-strangers": self.authorized_on(node)}

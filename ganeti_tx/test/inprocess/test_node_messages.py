"""What commands about nodes say, word for word as recorded of Ganeti 3.0.2 (but for the names of the nodes)."""

from ganeti_tx.test.inprocess.case import ClusterCase

AUTO = " - INFO: Auto-promoting node to master candidate"
ONLINE = " - WARNING: Transitioning node from offline to online state without using re-add. Please make sure the node is healthy!"


def changed(*changes: str) -> list[str]:
    """That a node was modified."""
    return ["Modified node node3", *(f" - {change}" for change in changes)]


#: One after the other.
RECORDED: tuple[tuple[str, list[str]], ...] = (
    ("modify -C no node3", changed("master_candidate -> False")),
    ("modify -C yes node3", changed("master_candidate -> True")),
    ("modify -C yes node3", []),
    ("modify -D yes node3", changed("master_candidate -> False", "drained -> True")),
    ("modify -D no node3", [AUTO, *changed("master_candidate -> True", "drained -> False")]),
    ("modify --drained=no node3", [" - INFO: Ignoring request to unset flag drained, already unset"]),
    ("modify --vm-capable=no node3", changed("vm_capable -> False")),
    ("modify --vm-capable=yes node3", changed("vm_capable -> True")),
    (
        "modify --master-capable=no node3",
        [
            " - INFO: Demoting from master candidate",
            *changed("master_capable -> False", "master_candidate -> False"),
        ],
    ),
    ("modify --master-capable=yes node3", [AUTO, *changed("master_capable -> True", "master_candidate -> True")]),
    ("modify -O yes node3", changed("master_candidate -> False", "offline -> True")),
    ("modify -O yes node3", []),
    ("modify -f -O no node3", [AUTO, ONLINE, *changed("master_candidate -> True", "offline -> False")]),
    (
        "modify -f --auto-promote -O no node3",
        [" - INFO: Ignoring request to unset flag offline, already unset"],
    ),
    (
        "add --readd --no-ssh-key-check node3",
        [" - INFO: Readding a node, the offline/drained flags were reset", " - INFO: Node will be a master candidate"],
    ),
    ("add --no-ssh-key-check node4", [" - INFO: Node will be a master candidate"]),
)


class NodeMessageTests(ClusterCase):
    """Three candidates, and a machine that becomes a node."""

    def test_recorded(self) -> None:
        """All of it, without the times at the beginnings of lines."""
        for line, expected in RECORDED:
            said = [line_.split(" 2023 ", 1)[-1] for line_ in self.ok(f"gnt-node {line}").splitlines()]
            self.assertEqual(said, expected, line)

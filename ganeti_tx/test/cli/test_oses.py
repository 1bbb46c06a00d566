"""Tests of gnt-os."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.os.diagnose import merged
from ganeti_tx.test.cli.fakes import CommandLine, answer_of

GOOD = ["/srv/os/busybox", True, "", ["small"], [["dhcp", "a help"]], [20, 15], True]
OLD = ["/usr/os/busybox", True, "", [], [], [5, 10], True]
BAD = ["/usr/os/busybox", False, "no create script", [], [], [], False]


class OsTests(SynchronousTestCase):
    """gnt-os."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_list(self) -> None:
        """Each variant is a name of its own."""
        self.cli.client.results["OP_OS_DIAGNOSE"] = [["busybox", []], ["debian", ["minimal", "full"]]]
        self.assertEqual(self.cli("gnt-os", "list").out, "Name          \nbusybox\ndebian+minimal\ndebian+full\n")
        self.assertEqual(self.cli("gnt-os", "list", "--no-headers").out, "busybox\ndebian+minimal\ndebian+full\n")

    def nodes(self, **groups: str) -> None:
        """What the nodes' query answers, by node; the last one of each group is offline."""
        fields = [(name, "text", name) for name in ("name", "group", "vm_capable", "offline")]
        rows = [[name, group, True, name == "gone"] for name, group in groups.items()]
        self.cli.client.answers["Query"] = lambda *args: answer_of(*fields, rows=rows)

    def diagnosed(self, *groups: str, **rows: Any) -> tuple[int, list[str]]:
        """The status and the lines, where a job about a group gives these rows."""
        self.cli.client.results["OP_OS_DIAGNOSE"] = rows["both"]
        outcome = self.cli("gnt-os", "diagnose", *groups)
        return outcome.status, outcome.out.splitlines()

    def test_diagnose(self) -> None:
        """Each node is shown; a fault anywhere makes a failure."""
        self.nodes(node1="default", gone="default")
        found = {"node2": [BAD], "node1": [GOOD, BAD], "node3": [], "node4": [OLD]}
        limits = {"node1": ["kvm", "fake"], "node2": None, "node4": []}
        self.assertEqual(
            self.diagnosed(both=[["busybox", True, False, found, limits]]),
            (
                1,
                [
                    "OS: busybox [global status: partial valid] [hidden]",
                    "  Node: node1, status: valid (path: /srv/os/busybox) [API versions: 20, 15] [variants: small] "
                    "[parameters: dhcp] [hypervisors: kvm, fake] [trusted]",
                    "    hidden by it: /usr/os/busybox",
                    "  Node: node2, status: invalid - no create script (path: /usr/os/busybox) "
                    "[no API versions declared] [untrusted]",
                    "  Node: node3, status: OS not found",
                    "  Node: node4, status: valid (path: /usr/os/busybox) [API versions: 5, 10] [no hypervisors] "
                    "[trusted]",
                    "",
                ],
            ),
        )

    def test_diagnose_groups(self) -> None:
        """There is a job for each group, or for those that are named; what is nowhere in a group is not found there."""
        self.nodes(node1="default", node2="other", gone="other")
        self.diagnosed(both=[["busybox", False, True, {"node1": [GOOD]}, {"node1": None}]])
        asked = [op.get("group_name") for op in self.cli.client.submitted]
        self.assertEqual(asked, ["default", "other"])
        self.diagnosed("other", both=[])
        self.assertEqual([op.get("group_name") for op in self.cli.client.submitted][2:], ["other"])

    def test_merged(self) -> None:
        """A node of which nothing is told of an OS does not have it, also where its group has none at all."""
        rows = [
            ["b", False, False, {"node1": [GOOD]}, {"node1": None}],
            ["a", False, False, {"node1": [OLD]}, {}],
            ["b", False, False, {"node2": [GOOD]}, {"node2": None}],
        ]
        first, second = merged(rows, ["node3"])
        self.assertEqual((first.name, first.node_status["node2"], first.state), ("a", (), "partial valid"))
        self.assertEqual((second.name, sorted(second.node_status), second.variants), ("b", NODES, ["small"]))
        self.assertEqual((second.state, merged(rows[::2])[0].state), ("partial valid", "valid"))

    def test_info(self) -> None:
        """As Ganeti prints it; of one that nobody has the name alone."""
        self.cli.client.results["OP_OS_DIAGNOSE"] = [
            ["broken", False, True, False, [], [], [], None, True],
            ["debian", True, False, False, [15, 20], ["default"], [["dhcp", "yes or no"]], ["kvm"], True],
            ["noop", True, False, True, [10], [], [], None, False],
        ]
        lines = self.cli("gnt-os", "info", "broken", "debian", "nosuch", "noop").out.splitlines()
        self.assertEqual(lines, INFO.splitlines())
        (op,) = self.cli.client.submitted
        self.assertEqual(op["names"], ["broken", "debian", "noop", "nosuch"])

    def test_modify(self) -> None:
        """Each option is one setting of the cluster."""
        words = ("-H", "kvm:acpi=no", "-O", "a=1", "--os-parameters-private", "p=x", "--hidden=yes", "--blacklisted=no")
        outcome = self.cli("gnt-os", "modify", *words, "debian")
        self.assertEqual((outcome.status, outcome.out, outcome.err), (0, "", ""))
        (op,) = self.cli.client.submitted
        self.assertEqual(
            op,
            {
                "OP_ID": "OP_CLUSTER_SET_PARAMS",
                "os_hvp": {"debian": {"kvm": {"acpi": False}}},
                "osparams": {"debian": {"a": "1"}},
                "osparams_private_cluster": {"debian": {"p": "x"}},
                "hidden_os": [["add", "debian"]],
                "blacklisted_os": [["remove", "debian"]],
            },
        )

    def test_modify_refused(self) -> None:
        """Nothing to change, no name, and no value at all."""
        for words, status, text in (
            (("debian",), 1, "nothing to change: give OS parameters"),
            ((), 1, "argument"),
            (("--hidden=maybe", "debian"), 1, "maybe"),
            (("-H", "kvm", "debian"), 1, "nothing to change"),
        ):
            outcome = self.cli("gnt-os", "modify", *words)
            self.assertEqual((outcome.status, self.cli.client.jobs), (status, {}), words)
            self.assertIn(text, outcome.err)


NODES = ["node1", "node2", "node3"]
INFO = """\
broken:
  - valid: False
  - hidden: True
  - blacklisted: False
  - trusted: True

debian:
  - valid: True
  - hidden: False
  - blacklisted: False
  - API versions:
    - 15
    - 20
  - variants:
    - default
  - parameters:
    - dhcp: yes or no
  - hypervisors:
    - kvm
  - trusted: True

noop:
  - valid: True
  - hidden: False
  - blacklisted: True
  - API versions:
    - 10
  - variants:
  - parameters:
  - trusted: False

nosuch:\x20

"""

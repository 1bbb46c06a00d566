"""Which nodes queries ask, how often, and how long they wait for them."""

from collections import Counter
from typing import Any

from ganeti_tx.luxid.prompt_rpc import LEAST
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.interfaces import PROMPT
from ganeti_tx.test.inprocess.network import Late, Trouble
from ganeti_tx.test.inprocess.populated import PopulatedCase
from ganeti_tx.test.query.facts_table import FACTS


class CallTests(PopulatedCase):
    """Which nodes are asked, how often, and how long they are waited for."""

    def asked(self, what: str, fields: list[str], condition: list[Any] | None = None) -> dict[str, int]:
        """How many calls each node gets for one query, by its short name; no query waits for a second."""
        self.cluster.pass_time(PROMPT)  # what was asked before has ended
        luxi, begun, sent = self.luxi(), self.cluster.time.seconds(), len(self.cluster.network.sent)
        luxi.query(what, fields, condition)
        self.assertLess(self.cluster.time.seconds() - begun, LEAST + 0.1)
        calls = [
            each.node.split(".")[0]
            for each in self.cluster.network.sent[sent:]
            if each.caller.startswith("luxid")
            and not each.call.name.startswith("jobqueue_")  # copies have their own time
        ]
        return dict(Counter(calls))

    def test_nothing_live(self) -> None:
        """Nobody is asked for what the configuration holds, by fields or filter."""
        for what in ("instance", "node", "group", "network", "filter"):
            still = [name for name, fact in FACTS["resources"][what]["fields"].items() if not fact[2]]
            self.assertEqual(self.asked(what, still, ["|", *(["?", name] for name in still)]), {}, what)

    def test_all_live(self) -> None:
        """Each node once for all live fields, and again for the consoles of what it runs; never one that is offline."""
        nodes = list(FACTS["resources"]["node"]["fields"])
        self.assertEqual(self.asked("node", nodes), dict.fromkeys(("node1", "node2", "node3", "node6", "node7"), 1))
        instances = list(FACTS["resources"]["instance"]["fields"])
        without = [name for name in instances if name != "console"]
        self.assertEqual(self.asked("instance", without), {"node2": 1, "node3": 1, "node7": 1})
        self.assertEqual(self.asked("instance", instances), {"node2": 2, "node3": 2, "node7": 1})
        self.assertEqual(
            self.asked("export", ["node"]), dict.fromkeys(("node1", "node2", "node3", "node5", "node6", "node7"), 1)
        )

    def test_filter_alone(self) -> None:
        """A field of the filter is asked for as well, of the rows that the rest of the filter leaves."""
        condition = ["&", ["=~", "name", "^node[23]"], [">", "mfree", 1]]
        self.assertEqual(self.asked("node", ["name"], condition), {"node2": 1, "node3": 1})
        self.assertEqual(self.asked("instance", ["name"], ["&", ["==", "pnode", "node4"], ["?", "oper_state"]]), {})

    def test_slow(self) -> None:
        """Of a node that takes its time there is no data; the others' values come as if it were not there."""
        self.cluster.network.fault = lambda node, call: Late(5.0) if node.startswith("node3") else None
        begun = self.cluster.time.seconds()
        rows = self.luxi().query("node", ["name", "mtotal"], ["|", *(["=", "name", f"node{n}"] for n in (1, 2, 3))])[
            "data"
        ]
        self.assertEqual([cell[0] for _, cell in rows], [0, 0, 2])
        self.assertLess(self.cluster.time.seconds() - begun, LEAST + 0.1)
        self.cluster.network.fault = None
        self.cluster.pass_time(10)
        self.assertEqual(self.luxi().query("node", ["mtotal"], ["=", "name", "node3"])["data"], [[[0, 8192]]])

    def info(self, silent: str) -> tuple[str, float]:
        """What is told of a mirrored instance while a node takes calls and answers none, and how long it takes."""

        def fault(node: str, call: NodeCall[object]) -> Trouble | None:
            asked = isinstance(call, AllInstancesInfo | BlockdevStates)
            return Trouble.ANSWER_LOST if asked and node.startswith(silent) else None

        self.cluster.pass_time(60)  # the queue has given up on the node that cannot be reached
        self.cluster.network.fault = fault
        begun = self.cluster.time.seconds()
        text = self.ok("gnt-instance info web1")
        self.cluster.network.fault = None
        return text, self.cluster.time.seconds() - begun

    def test_details(self) -> None:
        """Details have what the configuration holds, and what the others tell, when a node has had the time of a query."""
        text, seconds = self.info("node2")
        self.assertIn("did not answer all_instances_info within 4 s", text)
        self.assertIn("configured to be up, actual state is unknown\n", text)
        self.assertIn("on secondary: /dev/drbd0", text)
        self.assertLess(seconds, PROMPT)
        text, seconds = self.info("node3")
        self.assertIn("cannot tell how disks are on node node3.example.com: ", text)
        self.assertIn("actual state is up\n", text)
        self.assertIn("on primary: /dev/drbd0", text)
        self.assertNotIn("on secondary: /dev/drbd0", text)
        self.assertLess(seconds, PROMPT)

"""gnt-node modify, every field of it, as the operator sees it."""

from ganeti_tx.logic.node.set_params import ANSWERS_WITHIN
from ganeti_tx.queue.copies.replication import TIMEOUT
from ganeti_tx.test.inprocess.case import ClusterCase

#: Simulated seconds that all the rest takes.
SOON = 1.0


class NodeModifyTests(ClusterCase):
    """Three candidates, of which the first is the master."""

    def test_states(self) -> None:
        """What is said of the resources is kept, laid over what was said, and told back."""
        out = self.ok("gnt-node modify --hypervisor-state fake:mem_total=1000 node3")
        self.assertIn("Modified node node3\n - hv_state/fake -> {'mem_total': '1000'}\n", out)
        self.ok("gnt-node modify --hypervisor-state fake:mem_node=10 node3")
        node = next(each for each in self.cluster.config.nodes.values() if each.name == "node3.example.com")
        self.assertEqual(dict(node.hv_state_static), {"fake": {"mem_total": "1000", "mem_node": "10"}})
        self.fails(
            "gnt-node modify --hypervisor-state nosuch:x=1 node3",
            r"Invalid hypervisor\(s\) in hypervisor state: nosuch",
        )
        self.fails("gnt-node modify --disk-state file:x=1 node3", r"Invalid storage type\(s\) in disk state: file")

    def test_parameters(self) -> None:
        """Of the node's own; 'default' takes them back."""
        self.assertIn("ndparams/spindle_count -> 4", self.ok("gnt-node modify --node-parameters spindle_count=4 node3"))
        self.assertIn("spindle_count: 4\n", self.ok("gnt-node info node3"))
        self.ok("gnt-node modify --node-parameters spindle_count=default node3")
        self.assertIn("spindle_count: default (1)\n", self.ok("gnt-node info node3"))
        for given, reason in (
            ("nosuch=4", "nosuch"),
            ("spindle_count=x", "spindle_count"),
            ("exclusive_storage=yes", "exclusive_storage"),
        ):
            self.fails(f"gnt-node modify --node-parameters {given} node3", reason)

    def test_gone(self) -> None:
        """A node of which nothing is heard any more is marked within seconds, though the queue waits for its copy, too."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        began = self.cluster.time.seconds()
        said = self.ok("gnt-node modify -O yes node3")
        self.assertLess(self.cluster.time.seconds() - began, TIMEOUT + ANSWERS_WITHIN + SOON)
        self.assertIn("- WARNING: Communication failure to node node3.example.com: ", said)

    def test_power(self) -> None:
        """Recorded by hand where a program can tell; without power a node is not online."""
        self.fails("gnt-node modify --node-powered=no node3", "has no oob_program")
        self.ok("gnt-node modify --node-parameters oob_program=/bin/power node3")
        self.fails("gnt-node modify --node-powered=no node3", "--offline=yes")
        out = self.ok("gnt-node modify --node-powered=no --offline=yes --auto-promote node3")
        self.assertIn(" - powered -> False\n", out)
        self.assertIn("powered: False\n", self.ok("gnt-node info node3"))
        self.fails("gnt-node modify --offline=no node3", "cannot be online without power")
        self.ok("gnt-node modify --node-powered=yes --offline=no node3")
        self.assertIn("powered: True\n", self.ok("gnt-node info node3"))
        self.ok("gnt-node modify --node-parameters oob_program=default node3")
        self.assertNotIn("powered", self.ok("gnt-node info node3"))

    def test_no_program_given(self) -> None:
        """A parameter that goes away in the same change does not count."""
        self.ok("gnt-node modify --node-parameters oob_program=/bin/power node3")
        for given in ("default", "!", ""):
            self.fails(
                f"gnt-node modify --node-parameters oob_program={given} --node-powered=no --offline=yes node3",
                "has no oob_program",
            )

    def test_roles(self) -> None:
        """One role at a time; whoever leaves the pool is replaced where it is allowed."""
        self.ok("gnt-cluster modify --candidate-pool-size=2")
        self.ok("gnt-node modify -C no node3")
        self.fails("gnt-node modify -O yes node2", "--auto-promote")
        out = self.ok("gnt-node modify -D yes --auto-promote node2")
        self.assertIn("Promoted nodes to master candidate role: node3.example.com", out)
        self.fails("gnt-node modify -O yes -D yes node2", "has one role")
        self.fails("gnt-node modify --master-capable=no -C yes node2", "not master_capable cannot be")
        self.fails("gnt-node modify -C maybe node2", "maybe")
        self.fails("gnt-node modify -C yes nosuch", "'nosuch' not known")
        self.fails("gnt-node modify -s 192.0.2.3 node2", "node3")
        self.fails("gnt-node modify -s nowhere node2", "nowhere")
        roles = self.ok("gnt-node list --no-headers -o role").split()
        self.assertEqual(roles, ["M", "D", "C"])

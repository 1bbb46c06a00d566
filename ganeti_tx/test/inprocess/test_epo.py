"""gnt-cluster epo on a cluster in this process, whose machines really lose their power and boot again."""

from ganeti_tx.cli.cluster.epo_on import BOOT_LIMIT
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.test_oob import BROKEN, OobCase

ADD = "gnt-instance add -t diskless -o noop --no-name-check --no-ip-check -n"


class EpoTests(OobCase):
    """web1 is on the master, web2 and web3 on node2, of which web3 is stopped, web4 on node3."""

    def setUp(self) -> None:
        super().setUp()
        for node, name in (("node1", "web1"), ("node2", "web2"), ("node2 --no-start", "web3"), ("node3", "web4")):
            self.ok(f"{ADD} {node} {name}")
        self.program.calls.clear()

    def roles(self) -> str:
        """Of all nodes, in order."""
        return "".join(self.ok("gnt-node list --no-headers -o role").split())

    def states(self) -> list[str]:
        """What each instance does, and what it should do."""
        return self.ok("gnt-instance list --no-headers -o status,admin_state").splitlines()

    def running(self) -> list[str]:
        """The instances that run somewhere."""
        return sorted(name.split(".")[0] for names in self.cluster.running().values() for name in names)

    def fails_with(self, line: str, status: int = 1) -> str:
        """All that a command wrote that ended so."""
        ended, out, err = self.scene().run(line.split())
        self.assertEqual(ended, status, out + err)
        self.assertNotIn("Traceback", out + err)
        return out + err

    def test_whole_cluster(self) -> None:
        """All stops, the others are off, the master is left to be powered off by hand; then all is as it was."""
        out = self.ok("gnt-cluster epo --all --force")
        self.assertIn("The master node1.example.com is prepared, and can be powered off by hand now\n", out)
        self.assertIn("The watcher is paused until", out)
        self.assertEqual((self.roles(), self.program.off, self.running()), ("MOO", {2, 3}, []))
        self.assertEqual(self.program.calls, [("power-off", 2), ("power-off", 3)])
        wanted = self.ok("gnt-instance list --no-headers -o admin_state").split()
        self.assertEqual(wanted, ["up", "up", "down", "up"])
        out = self.ok("gnt-cluster epo --on --all --force")
        self.assertEqual((self.roles(), self.program.off, self.running()), ("MCC", set(), ["web1", "web2", "web4"]))
        self.assertIn("'gnt-cluster watcher continue' ends that", out)
        self.assertEqual([self.powered(number) for number in (2, 3)], ["Y", "Y"])

    def test_one_node(self) -> None:
        """What is elsewhere runs on; the pool of candidates is filled where it can be."""
        self.ok("gnt-cluster epo --force node3")
        self.assertEqual((self.roles(), self.program.off, self.running()), ("MCO", {3}, ["web1", "web2"]))
        self.ok("gnt-cluster epo --on --force node3")
        self.assertEqual((self.roles(), self.program.off), ("MCC", set()))
        self.assertEqual(self.running(), ["web1", "web2", "web4"])

    def test_group(self) -> None:
        """By the names of groups; one may be named twice."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes --force rack2 node3")
        self.ok("gnt-cluster epo --force --groups rack2 rack2")
        self.assertEqual(self.program.calls, [("power-off", 3)])

    def test_delay(self) -> None:
        """Nodes get power one after the other."""
        self.ok("gnt-cluster epo --all --force")
        self.program.times.clear()
        self.ok("gnt-cluster epo --on --all --force --power-delay=7.5")
        first, second = self.program.times
        self.assertGreaterEqual(second - first, 7.5)

    def test_refused(self) -> None:
        """What cannot be asked for; nothing is done then."""
        for line, reason in (
            (
                "--force",
                "node1.example.com is the master node, please do a master-failover to another node not affected by",
            ),
            ("--force node2 node1", "is the master node"),
            ("--force nosuch", "Node name nosuch not found"),
            ("--force --groups nosuch", "Node group name nosuch not found"),
            ("--force --groups", "--groups wants the names of node groups"),
            ("--force --all node2", "--all takes no names, got 'node2'"),
            ("--force --all --groups default", "Only one of --groups or --all are allowed"),
            ("--force --groups default", "is the master node"),
            ("--force --power-delay=-1 node2", "--power-delay is -1.0; allowed are 0 to 3600"),
            ("--force --power-delay=nan node2", "nan"),
            ("node2", "Nobody can be asked here; --force"),
            ("--on --all", "Nobody can be asked here; --force"),
            ("--force --oob-timeout=0 node3", "timeout is 0 s; allowed are 1 to 3600"),
        ):
            self.fails(f"gnt-cluster epo {line}", reason)
        self.ok("gnt-group add empty")
        self.fails("gnt-cluster epo --force --groups empty", "there are no nodes in empty")
        self.assertEqual(self.program.calls, [])

    def test_no_program(self) -> None:
        """Such a node is prepared, and left to be powered off by hand; it comes back when it is up."""
        self.ok("gnt-node modify --node-parameters oob_program=! node3")
        said = self.fails_with("gnt-cluster epo --force node2 node3")
        self.assertIn("Node node3.example.com does not support out-of-band handling", said)
        self.assertIn("Prepared, to be powered off by hand: node3.example.com\n", said)
        self.assertEqual((self.roles(), self.program.off, self.running()), ("MOO", {2}, ["web1"]))
        self.fails_with("gnt-cluster epo --on --force node2 node3")
        self.assertEqual((self.roles(), self.running()), ("MCC", ["web1", "web2", "web4"]))

    def test_instance_does_not_stop(self) -> None:
        """No power is cut while something runs that could not be stopped."""
        self.cluster.node(3).stop()
        said = self.fails_with("gnt-cluster epo --force node2 node3")
        self.assertIn("1 instance(s) could not be stopped, so no node was switched off: web4; stop", said)
        self.assertEqual((self.roles(), self.program.calls), ("MCC", []))

    def test_off_fails(self) -> None:
        """The others are switched off; the one that may still have power is named."""
        self.program.broken[2] = BROKEN
        said = self.fails_with("gnt-cluster epo --all --force")
        self.assertIn("no such board", said)
        self.assertIn("These nodes may still have power: node2.example.com\n", said)
        self.assertEqual((self.program.off, self.powered(2), self.powered(3)), ({3}, "Y", "N"))

    def test_on_fails(self) -> None:
        """One that gets no power, or does not come up, does not keep the others from coming back."""
        self.ok("gnt-cluster epo --all --force")
        self.program.broken[2] = BROKEN
        said = self.fails_with("gnt-cluster epo --on --all --force")
        self.assertIn("no such board", said)
        self.assertEqual((self.roles(), self.running()), ("MOC", ["web1", "web4"]))
        self.program.broken[2] = ProcessResult()  # it says that it did it
        before = self.cluster.time.seconds()
        said = self.fails_with("gnt-cluster epo --on --all --force")
        self.assertIn("did not come up within 600 seconds and stay offline: node2.example.com\n", said)
        self.assertGreaterEqual(self.cluster.time.seconds() - before, BOOT_LIMIT)
        self.program.broken.clear()
        self.ok("gnt-cluster epo --on --all --force")
        self.assertEqual((self.roles(), self.running()), ("MCC", ["web1", "web2", "web4"]))

    def test_boots_slowly(self) -> None:
        """A machine that takes its time is waited for."""
        self.ok("gnt-cluster epo --force node3")
        node = self.cluster.node(3)

        def slowly(call: Call) -> ProcessResult:
            self.cluster.time.callLater(200, node.boot)
            return ProcessResult()

        self.cluster.master.scripts.script([*self.program_argv("power-on")], slowly)
        self.ok("gnt-cluster epo --on --force node3")
        self.assertEqual((self.roles(), self.running()), ("MCC", ["web1", "web2", "web4"]))

    def program_argv(self, command: str) -> list[str]:
        """How the program is called for it."""
        return ["/usr/local/sbin/power", command]

    def test_longer_pause(self) -> None:
        """The watcher is not woken earlier than the administrator wants."""
        told = self.ok("gnt-cluster watcher pause 1d")
        self.ok("gnt-cluster epo --force node3")
        self.assertEqual(self.ok("gnt-cluster watcher info"), told)

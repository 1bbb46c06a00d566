"""Out-of-band commands on a cluster in this process: gnt-node power and health."""

from pathlib import Path

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.out_of_band import PROGRAM, PowerProgram

BROKEN = ProcessResult(status=1, stderr=b"no such board\n")
BEFORE = "gnt-instance add -t diskless -o noop -n node2 web1"


class OobCase(ClusterCase):
    """Three machines whose power a program knows."""

    def setUp(self) -> None:
        super().setUp()
        self.program = PowerProgram(self.cluster)
        self.ok(f"gnt-cluster modify --node-parameters oob_program={PROGRAM}")

    def table(self, line: str, status: int = 0) -> list[list[str]]:
        """The rows that a command prints, without its titles; of what jobs say nothing."""
        ended, out, err = self.scene().run(line.split())
        self.assertEqual(ended, status, out + err)
        lines = out.splitlines()
        first = next(index for index, text in enumerate(lines) if text.startswith("Node "))
        return [text.split() for text in lines[first + 1 :]]

    def unanswered(self, line: str, reason: str) -> str:
        """What is told of the second node, whose program has no answer."""
        status, out, err = self.scene().run(line.split())
        self.assertEqual((status, err, out.splitlines()[-1].split()), (1, "", ["node2.example.com", "(nodata)"]))
        self.assertIn("Out-of-band RPC failed on node 'node2.example.com': ", out)
        self.assertIn(reason, out)
        return out

    def powered(self, number: int) -> str:
        """What is recorded."""
        return self.ok(f"gnt-node list --no-headers -o powered node{number}").strip()


class PowerTests(OobCase):
    """gnt-node power."""

    def test_status(self) -> None:
        """Every node, or those that are named, in their order; what is not as recorded is told."""
        rows = self.table("gnt-node power status")
        self.assertEqual(rows, [[f"node{number}.example.com", "powered"] for number in (1, 2, 3)])
        self.assertEqual(
            self.table("gnt-node power status node3 node2"),
            [["node3.example.com", "powered"], ["node2.example.com", "powered"]],
        )
        self.program.off.add(3)
        self.assertIn("node3.example.com is off, but recorded is that it is on", self.ok("gnt-node power status node3"))
        self.assertEqual(
            self.ok("gnt-node power --no-headers --separator=: status node2"), "node2.example.com:powered\n"
        )
        self.program.broken[2] = ProcessResult(stdout=b"{}")
        self.assertEqual(self.table("gnt-node power status node2"), [["node2.example.com", "unknown"]])

    def verified(self) -> str:
        """What verification says of power, one line; nothing else is wrong."""
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertEqual(status, 0, out)
        return "".join(line.partition(" - ")[2] for line in out.splitlines() if "ENODEOOBPATH" in line)

    def test_verified(self) -> None:
        """Verification warns of what is not as recorded, or not known; of nodes that are offline, too."""
        for node in self.cluster.members:
            put(node.disk, Path(PROGRAM), b"#!/bin/sh\n", 0o755)
        self.assertEqual(self.verified(), "")
        self.program.off.add(3)
        of_node = "WARNING:ENODEOOBPATH:node:node3.example.com:"
        self.assertIn(f"{of_node}is off, but recorded is that it is on", self.verified())
        self.program.broken[3] = BROKEN
        self.program.broken[2] = BROKEN
        of_master = "WARNING:ENODEOOBPATH:node:node1.example.com:"
        names = "node2.example.com, node3.example.com"
        self.assertIn(f"{of_master}whether there is power is not known of {names}: {PROGRAM} failed", self.verified())
        self.program.broken.clear()
        self.ok("gnt-node modify --offline=yes --force --auto-promote node3")
        self.ok("gnt-node modify --node-powered=no node3")
        self.assertEqual(self.verified(), "")
        self.program.off.clear()
        self.assertIn(f"{of_node}is on, but recorded is that it is off", self.verified())

    def test_off_and_on(self) -> None:
        """What is switched off is marked offline before; the record follows, and the node comes back."""
        self.assertEqual(self.table("gnt-node power --force off node3"), [["node3.example.com", "invoked"]])
        self.assertEqual(self.ok("gnt-node list --no-headers -o role node3"), "O\n")
        self.assertEqual((self.powered(3), self.program.off), ("N", {3}))
        self.fails("gnt-node modify --offline=no node3", "cannot be online without power")
        self.assertEqual(self.table("gnt-node power on node3"), [["node3.example.com", "invoked"]])
        self.ok("gnt-node modify --offline=no node3")
        self.assertEqual((self.powered(3), self.program.off), ("Y", set()))
        self.assertIn("node3.example.com", self.ok("gnt-node list -o name,role node3"))

    def test_promotion(self) -> None:
        """Another node takes the place of a master candidate that is switched off, where that is wanted."""
        self.ok("gnt-node modify -C no node3")
        self.ok("gnt-cluster modify --candidate-pool-size=2")
        self.fails("gnt-node power --force off node2", "--auto-promote")
        self.assertEqual(self.program.calls, [])
        self.ok("gnt-node power --force --auto-promote off node2")
        self.assertEqual(self.ok("gnt-node list --no-headers -o role"), "M\nO\nC\n")

    def test_ignored_status(self) -> None:
        """By a word more what is in service is switched off, too."""
        self.ok("gnt-node power --force --ignore-status off node3")
        self.assertEqual((self.powered(3), self.program.off), ("N", {3}))
        self.assertEqual(self.ok("gnt-node list --no-headers -o offline node3"), "N\n")
        self.ok("gnt-node power on node3")
        self.assertEqual(self.powered(3), "Y")

    def test_again(self) -> None:
        """Nobody looks whether it is so already: the program is called, and the record stays (reference: oob.json, table)."""
        for command, recorded in (("on", "Y"), ("cycle", "Y"), ("off", "N"), ("off", "N"), ("cycle", "N"), ("on", "Y")):
            self.ok(f"gnt-node power --force --ignore-status {command} node3")
            self.assertEqual(self.powered(3), recorded, command)
        self.assertEqual(len(self.program.calls), 6)

    def test_cycle(self) -> None:
        """What ran there is cut off; the node is back, and the record is as before."""
        self.ok(BEFORE)
        boots = self.cluster.node(2).boots
        self.assertEqual(self.table("gnt-node power --force cycle node2"), [["node2.example.com", "invoked"]])
        self.assertEqual((self.cluster.node(2).boots, self.powered(2)), (boots + 1, "Y"))

    def test_delay(self) -> None:
        """Nodes are powered on one after the other, so that they do not all draw their starting current at a time."""
        self.ok("gnt-node power --power-delay=7.5 on")
        first, second, third = self.program.times
        self.assertEqual(self.program.calls, [("power-on", number) for number in (1, 2, 3)])
        self.assertGreaterEqual(min(second - first, third - second), 7.5)

    def test_master(self) -> None:
        """Who would lose the master is told how to do it by hand."""
        for command in ("off", "cycle"):
            error = self.fails(f"gnt-node power --force --ignore-status {command} node2 node1", "is the master")
            self.assertIn(f"{PROGRAM} power-{command} node1.example.com", error)
        self.assertEqual(self.program.calls, [])

    def test_no_program(self) -> None:
        """A node without one is not known of; with it the others are."""
        self.ok("gnt-node modify --node-parameters oob_program=! node2")
        rows = [["node1.example.com", "powered"], ["node2.example.com", "(unavail)"], ["node3.example.com", "powered"]]
        self.assertEqual(self.table("gnt-node power status", 1), rows)
        self.assertEqual(self.table("gnt-node power on node2", 1), [["node2.example.com", "(unavail)"]])
        self.fails("gnt-node modify --node-powered=no --offline=yes node2", "has no oob_program")
        self.assertEqual(self.table("gnt-node power --force off node2", 1), [["node2.example.com", "(unavail)"]])
        self.assertEqual(self.ok("gnt-node list --no-headers -o offline node2"), "N\n")
        self.assertEqual(self.powered(2), "-")

    def test_one_fails(self) -> None:
        """The others have their turn; the error names the node and what its program complained of."""
        self.program.broken[2] = BROKEN
        error = self.fails("gnt-node power --force on", "power-on failed for 1 of 3 nodes")
        self.assertIn(f"node2.example.com: {PROGRAM} failed: exited with status 1: no such board", error)
        self.assertEqual([number for _command, number in self.program.calls], [1, 2, 3])
        self.assertEqual(self.powered(2), "Y")
        rows = [["node1.example.com", "powered"], ["node2.example.com", "(nodata)"], ["node3.example.com", "powered"]]
        self.assertEqual(self.table("gnt-node power status", 1), rows)
        self.unanswered("gnt-node power status node2", "no such board")

    def test_off_fails(self) -> None:
        """A node that may still have power is recorded so."""
        self.program.broken[3] = BROKEN
        self.fails("gnt-node power --force --ignore-status off node3", "no such board")
        self.assertEqual(self.powered(3), "Y")

    def test_odd_answers(self) -> None:
        """What a program prints is checked."""
        for printed in (b"yes", b"[]", b'{"powered": "on"}', b"[" * 60_000):
            self.program.broken[2] = ProcessResult(stdout=printed)
            error = self.unanswered("gnt-node power status node2", "it printed")
            self.assertLess(len(error), 1000)
        self.program.broken[2] = ProcessResult(stdout=b" " * 70_000)
        self.unanswered("gnt-node power status node2", "printed more than 65536 bytes")

    def test_refused(self) -> None:
        """What cannot be asked for."""
        for line, reason in (
            ("status nosuch", "Node name nosuch not found"),
            ("off", "power off wants the names of nodes"),
            ("cycle", "power cycle wants the names of nodes"),
            ("bogus", "choose from on, off, cycle, status"),
            ("--oob-timeout=0 status", "timeout is 0 s; allowed are 1 to 3600"),
            ("--oob-timeout=x status", "x"),
            ("--power-delay=-1 --force on", "power_delay is -1.0 s; allowed are 0 to 3600"),
            ("--power-delay=nan --force on", "nan"),
            ("off node3", "Nobody can be asked here; --force"),
        ):
            self.fails(f"gnt-node power {line}", reason)
        self.assertEqual(self.program.calls, [])

    def test_program_missing(self) -> None:
        """A program that is not there, or that anybody can change, is not run."""
        self.cluster.master.disk.set_mode(self.cluster.paths.root / PROGRAM[1:], 0o757)
        self.unanswered("gnt-node power status node2", "others may write to it")
        self.ok("gnt-node modify --node-parameters oob_program=/nosuch node2")
        self.unanswered("gnt-node power status node2", "no out-of-band program on the master")

    def test_locks(self) -> None:
        """Who asks waits for nobody; who switches power waits for what is done on the node."""
        self.scene().submit("gnt-debug delay --submit -n node3 30")
        self.cluster.pass_time(1)
        before = self.cluster.time.seconds()
        self.ok("gnt-node power status")
        self.assertLess(self.cluster.time.seconds() - before, 10)
        self.ok("gnt-node power on node3")
        self.assertGreater(self.cluster.time.seconds() - before, 20)


class HealthTests(OobCase):
    """gnt-node health."""

    def test_health(self) -> None:
        """What needs somebody is told of; nothing else is done. Each part has a line, but for programs."""
        self.program.health[2] = '[["fan 1", "OK"], ["psu", "CRITICAL"], ["temp", "WARNING"], ["door", "UNKNOWN"]]'
        _status, out, _err = self.scene().run(["gnt-node", "health", "--separator=|"])
        for item, status in (("psu", "CRITICAL"), ("temp", "WARNING")):
            self.assertIn(f"Item '{item}' on node 'node2.example.com' has status '{status}'", out)
        self.assertIn("node2.example.com|fan 1=OK,psu=CRITICAL,temp=WARNING,door=UNKNOWN\n", out)
        self.assertIn("node1.example.com|fan=OK\n", out)
        lines = [line.split() for line in self.ok("gnt-node health node2").splitlines()[-4:]]
        self.assertEqual(
            lines, [["node2.example.com", "fan", "1=OK"], ["psu=CRITICAL"], ["temp=WARNING"], ["door=UNKNOWN"]]
        )

    def test_odd_answers(self) -> None:
        """What a program prints is checked."""
        for printed in ("{}", '[["fan"]]', '[["fan", "BURNS"]]', '[[1, "OK"]]', "nothing"):
            self.program.health[2] = printed
            self.unanswered("gnt-node health node2", "it printed")
        self.assertEqual(self.table("gnt-node health", 1)[1], ["node2.example.com", "(nodata)"])

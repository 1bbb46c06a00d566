"""A burnin against a master that does every job at once: what is checked, what is told, what is removed."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.burnin.unbroken import Unbroken
from ganeti_tx.confd.questions import NodeInstances, Question
from ganeti_tx.errors import OpExecError
from ganeti_tx.test.burnin.parts import NODES, Burning, BurningClient

FILE = "-t file --no-confd"


class RunCase(SynchronousTestCase):
    """A master with three nodes and no instance."""

    def setUp(self) -> None:
        self.client = BurningClient()
        self.burning = Burning(self.client)

    def run_it(self, line: str, status: int) -> str:
        """Its output, when it has ended with this status."""
        ended = self.burning(line)
        told = self.burning.out.getvalue() + self.burning.err.getvalue()
        self.assertEqual(ended, status, told)
        return told

    def sent(self) -> list[str]:
        """The opcodes that came in, but for those that look for what is there."""
        looking = ("OP_CLUSTER_VERIFY", "OP_OS_DIAGNOSE")
        return [op["OP_ID"] for op in self.client.submitted if op["OP_ID"] not in looking]


class PassedTests(RunCase):
    """All goes well."""

    def test_order(self) -> None:
        """One by one, each job with the step in its reason trail."""
        told = self.run_it(f"{FILE} --reason=new web1 web2", 0)
        self.assertIn("Burnin passed after", told)
        names = [op["instance_name"] for op in self.client.submitted if "instance_name" in op]
        self.assertEqual(names[:4], ["web1", "web2", "web1", "web2"])
        self.assertEqual(self.client.instances, {})
        trails = [op["reason"] for ops in self.client.jobs.values() for op in ops]
        self.assertEqual(
            [entry[:2] for entry in trails[2]], [["gnt:user", "new"], ["gnt:client:burnin", "Creating instances"]]
        )
        self.assertEqual({trail[0][1] for trail in trails}, {"new"})

    def test_parallel(self) -> None:
        """The jobs of a step are all submitted before any is followed, but for renames."""
        self.run_it(f"{FILE} -p --rename=web3 web1 web2", 0)
        calls = [(method, args) for method, args in self.client.calls if method in ("SubmitJob", "WaitForJobChange")]
        kinds = [(method[0], args[0][0]["OP_ID"] if method == "SubmitJob" else "") for method, args in calls]
        creating = kinds.index(("S", "OP_INSTANCE_CREATE"))
        self.assertEqual([kind for kind, _ in kinds[creating : creating + 4]], ["S", "S", "W", "W"])
        renaming = [index for index, (method, args) in enumerate(calls) if method == "SubmitJob" and len(args[0]) == 6]
        self.assertEqual([kinds[index + 1][0] for index in renaming], ["W", "W"])

    def test_kept(self) -> None:
        """With -K they stay, and are named."""
        told = self.run_it(f"{FILE} -K web1 web2", 0)
        self.assertIn("Kept: web1, web2\n", told)
        self.assertEqual(set(self.client.instances), {"web1", "web2"})

    def test_verbose(self) -> None:
        """What the jobs say is shown only when it is wanted."""
        self.client.log = [[1, [1700000000, 0], "message", "* adding it"]]
        self.assertNotIn("* adding it", self.run_it(f"{FILE} web1", 0))
        self.assertIn("* adding it", self.run_it(f"{FILE} -v web1", 0))

    def test_debug(self) -> None:
        """Jobs hear of it."""
        self.run_it(f"{FILE} -dd web1", 0)
        self.assertEqual({op["debug_level"] for op in self.client.submitted}, {2})


class BeforeTests(RunCase):
    """What is looked at before anything is done."""

    def refused(self, line: str, reason: str) -> None:
        """It says why, and no instance is touched."""
        self.assertIn(reason, self.run_it(line, 1))
        self.assertEqual(self.sent(), [])

    def test_names(self) -> None:
        """They must be free, also by their short names, and of exports."""
        self.client.foreign = ["web2.example.com", "web33"]
        self.refused(f"{FILE} web1 web2", "there is an instance web2.example.com; give names that are free")
        self.refused(f"{FILE} --rename web2 web1", "there is an instance web2.example.com")
        self.client.exports = [("web1", "node2"), ("web1", "node3")]
        self.refused(f"{FILE} web1", "there is an export web1; give names that are free")
        self.run_it(f"{FILE} web3", 0)

    def test_nodes(self) -> None:
        """Those that are named must be there, and may hold instances; there are enough."""
        self.client.nodes = [
            ("node1.x", False, False, True),
            ("node2", True, False, True),
            ("node3", False, True, True),
        ]
        self.refused(f"{FILE} -n node4 web1", "there is no node 'node4'; give some of node1.x, node2, node3")
        self.refused(f"{FILE} -n node1,node2 web1", "node2 may hold no new instances")
        self.refused(f"{FILE} -n node3 web1", "node3 may hold no new instances")
        self.refused("-t drbd web1", "disk template drbd needs 2 nodes, and 1 may be used")
        self.assertIn("on node1.x\n", self.run_it(f"{FILE} web1", 0))

    def test_template(self) -> None:
        """A disk template that the cluster does not have is refused before anything is done."""
        self.refused("-t ext web1", "'ext' is none of the cluster's disk templates: file, drbd")

    def test_hypervisor(self) -> None:
        """The cluster must have it."""
        self.refused(f"{FILE} -H xen-pvm web1", "'xen-pvm' is none of the cluster's hypervisors: kvm, lxc")

    def test_os(self) -> None:
        """Some node must have the definition, with its variant; one that not all have may be had by those that are used."""
        there = "there are debootstrap+default, debootstrap+minimal, half, noop\n"
        told = "is none of the nodes' definitions; " + there
        self.refused(f"{FILE} -o nop web1", f"--os: 'nop' {told}Did you mean noop?")
        for name in ("debootstrap", "debootstrap+full", "noop+x"):
            self.refused(f"{FILE} -o {name} web1", f"--os: {name!r} {told}")
        self.run_it(f"{FILE} -o half+x web1", 0)

    def test_resolved(self) -> None:
        """Names must stand for addresses, also the spare one, unless that does not matter."""
        self.burning.unresolved = {"web2"}
        for line in ("web1 web2", "--rename web2 web1"):
            self.refused(f"{FILE} {line}", "the name web2 does not resolve (")
        self.run_it(f"{FILE} --no-name-check --rename web3 web1 web2", 0)


class FailedTests(RunCase):
    """Something goes wrong: no further step is done, and all is removed."""

    def test_job(self) -> None:
        """The step's other jobs are not begun, or followed to their ends when they are."""
        self.client.results["OP_INSTANCE_REBOOT"] = OpExecError("no\nelectricity")
        told = self.run_it(f"{FILE} web1 web2", 1)
        self.assertRegex(told, r"Failed: .*job \d+ of web1 has failed: .*no electricity")
        self.assertEqual(self.sent().count("OP_INSTANCE_REBOOT"), 3)
        self.assertNotIn("OP_INSTANCE_SET_PARAMS", self.sent())
        self.assertEqual(self.client.instances, {})
        self.assertIn("Burnin FAILED", told)
        removal = [op for op in self.client.submitted if op["OP_ID"] == "OP_INSTANCE_REMOVE"][-1]
        self.assertTrue(removal["ignore_failures"])
        told = self.run_it(f"{FILE} -p web1 web2", 1)
        self.assertRegex(told, r"job \d+ of web1 has failed: .*; job \d+ of web2 has failed: ")

    def test_export_left(self) -> None:
        """An export whose import has failed goes, too."""
        self.client.hears = self.import_fails
        self.run_it(f"{FILE} web1", 1)
        self.assertEqual((self.client.exports, self.client.instances), ([], {}))
        self.assertEqual(self.sent()[-1], "OP_BACKUP_REMOVE")

    def import_fails(self, ops: list[dict[str, Any]]) -> None:
        """What is submitted as an export is one, and then fails."""
        if ops[0]["OP_ID"] == "OP_BACKUP_EXPORT":
            self.client.exports.append(("web1", ops[0]["target_node"]))
            del self.client.instances["web1"]
            self.client.results["OP_BACKUP_EXPORT"] = OpExecError("no room")

    def test_dead(self) -> None:
        """An instance that does not run when its time is over."""
        self.client.status = "ERROR_down"
        told = self.run_it(f"{FILE} --net-timeout=7 web1", 1)
        self.assertIn("web1 does not run: its status is ERROR_down", told)
        self.assertEqual((self.burning.passed, self.client.instances), (7, {}))

    def test_silent(self) -> None:
        """One that runs and does not answer, if it is asked; it may take a while."""
        answers = ["nobody", "nobody", *[""] * 100]
        self.burning.fetch = lambda name: answers.pop(0)
        self.run_it(f"{FILE} -C web1", 0)
        self.assertEqual(self.burning.passed, 2)
        self.burning.fetch = lambda name: f"{name} says nothing"
        self.run_it(f"{FILE} web1", 0)
        self.assertIn("web1 does not live: web1 says nothing", self.run_it(f"{FILE} -C web1", 1))

    def test_left(self) -> None:
        """What nodes have afterwards and had not before is told; what they had before is not ours."""
        line = "WARNING:ENODEORPHANLV:node:node1:volume xenvg/{} is unknown"
        self.client.orphans = [line.format("old"), "ERROR:ENODETIME:node:node1:is late"]
        self.run_it(f"{FILE} web1", 0)

        def leave(ops: list[dict[str, Any]]) -> None:
            if ops[0]["OP_ID"] == "OP_INSTANCE_REMOVE":
                self.client.orphans.append(line.format("new"))

        self.client.hears = leave
        self.assertIn(f"something is left: {line.format('new')}\n", self.run_it(f"{FILE} web1", 1))

    def test_removal(self) -> None:
        """One that cannot be removed does not keep the others from it, and is told as left."""
        self.client.results["OP_INSTANCE_REMOVE"] = OpExecError("no")
        told = self.run_it(f"{FILE} --no-importexport web1 web2", 1)
        self.assertEqual(self.sent()[-2:], ["OP_INSTANCE_REMOVE"] * 2)
        self.assertIn("something is left: web1; web2\n", told)


class ExportsTests(RunCase):
    """It removes those that it has made, and no other."""

    def setUp(self) -> None:
        super().setUp()
        self.client.hears = self.happens
        #: What somebody else has made when the first job with an opcode comes in.
        self.others: dict[str, list[tuple[str, str]]] = {}

    def happens(self, ops: list[dict[str, Any]]) -> None:
        """A job comes in."""
        self.client.exports += self.others.pop(ops[0]["OP_ID"], [])

    def test_own(self) -> None:
        """Each goes when its instance has been imported, by a job of its own, before the next one is made."""
        self.run_it(f"{FILE} web1 web2", 0)
        moves = [op for op in self.sent() if op.startswith("OP_BACKUP")]
        self.assertEqual(moves, ["OP_BACKUP_EXPORT", "OP_BACKUP_REMOVE"] * 2)
        self.assertEqual(self.client.exports, [])

    def test_longer_name(self) -> None:
        """One whose name begins as an instance's stays, and is named."""
        other = ("web1.example.com", "node2")
        self.others["OP_INSTANCE_CREATE"] = [other]
        told = self.run_it(f"{FILE} web1", 0)
        self.assertEqual(self.client.exports, [other])
        self.assertIn("export web1.example.com on node2 stays: this burnin has not made it\n", told)
        self.assertIn("Exporting", told)

    def test_before_the_step(self) -> None:
        """One of an instance's very name is neither replaced nor removed; the other instance is exported."""
        for how in ("", "-p"):
            self.client.exports = []
            self.others["OP_INSTANCE_MOVE"] = [("web1", "node2")]
            told = self.run_it(f"{FILE} {how} web1 web2", 0)
            self.assertIn("web1: left out (this burnin has not made export web1 on node2, and would replace it)", told)
            self.assertEqual(self.client.exports, [("web1", "node2")])
        exported = [op["instance_name"] for op in self.client.submitted if op["OP_ID"].startswith("OP_BACKUP")]
        self.assertEqual(set(exported), {"web2"})

    def test_after_the_step(self) -> None:
        """One that is made when its own has been removed is none of its own, wherever it is."""
        mine = ("web1", "node2")
        self.others["OP_INSTANCE_REBOOT"] = [mine]
        self.assertIn("export web1 on node2 stays", self.run_it(f"{FILE} web1", 0))
        [target] = [op["target_node"] for op in self.client.submitted if op["OP_ID"] == "OP_BACKUP_EXPORT"]
        self.assertEqual((target, self.client.exports), (mine[1], [mine]))

    def test_not_created(self) -> None:
        """A second burnin that has come too late for its name takes nothing of the first."""
        self.others["OP_INSTANCE_CREATE"] = [("web1", "node1")]
        self.client.results["OP_INSTANCE_CREATE"] = OpExecError("web1 is there already")
        self.assertIn("export web1 on node1 stays", self.run_it(f"{FILE} web1", 1))
        self.assertNotIn("OP_BACKUP_REMOVE", self.sent())

    def test_other_node(self) -> None:
        """A removal would take what somebody else has exported meanwhile to another node: its own stays, and is told."""
        self.others["OP_BACKUP_EXPORT"] = [("web1", "node1")]
        told = self.run_it(f"{FILE} web1", 1)
        self.assertRegex(told, r"something is left: export web1 on node\d \(not removed: node1 would lose one")
        self.assertNotIn("OP_BACKUP_REMOVE", self.sent())

    def test_foreign_instance(self) -> None:
        """Somebody else has an instance of that name by now."""
        self.client.results["OP_BACKUP_EXPORT"] = OpExecError("no room")

        def taken(ops: list[dict[str, Any]]) -> None:
            if ops[0]["OP_ID"] == "OP_BACKUP_EXPORT":
                del self.client.instances["web1"]
                self.client.foreign.append("web1")
                self.client.exports.append(("web1", ops[0]["target_node"]))

        self.client.hears = taken
        self.assertIn("somebody else has an instance of that name now", self.run_it(f"{FILE} web1", 1))
        self.assertNotIn("OP_BACKUP_REMOVE", self.sent())


class InterruptedTests(RunCase):
    """The operator leaves, or nobody reads any more."""

    def test_job(self) -> None:
        """The job is cancelled and waited for, then all is removed."""
        self.client.answers["WaitForJobChange"] = self.interrupted_at("OP_INSTANCE_REINSTALL")
        told = self.run_it(f"{FILE} web1 web2", 1)
        self.assertIn("Interrupted", told)
        [[cancelled, *_]] = self.client.sent("CancelJob")
        self.assertIn("OP_INSTANCE_REINSTALL", json.dumps(self.client.jobs[cancelled]))
        self.assertNotIn("OP_INSTANCE_REBOOT", self.sent())
        self.assertEqual(self.client.instances, {})

    def interrupted_at(self, op_id: str) -> Any:
        """The first wait for a job with this opcode is interrupted."""
        seen: list[int] = []

        def wait(job_id: int, *rest: Any) -> Any:
            if not seen and op_id in json.dumps(self.client.jobs[job_id]):
                seen.append(job_id)
                raise KeyboardInterrupt
            return self.client._wait_for_job_change(job_id, *rest)

        return wait

    def test_twice(self) -> None:
        """Once more while it removes: what is left is left, and told."""
        self.client.answers["WaitForJobChange"] = self.interrupted_at("OP_INSTANCE_CREATE")
        self.client.answers["CancelJob"] = self.interrupted
        told = self.run_it(f"{FILE} web1", 1)
        self.assertIn("look with 'gnt-job list' and 'gnt-instance list'", told)
        self.assertEqual(set(self.client.instances), {"web1"})

    def interrupted(self, *rest: Any) -> Any:
        """At any time."""
        raise KeyboardInterrupt

    def test_nobody_reads(self) -> None:
        """Output that breaks off ends it, and all is removed."""
        lines: list[str] = []

        class Broken(Unbroken):
            def write(self, text: str, /) -> int:
                if any("Rebooting" in line for line in lines):
                    raise BrokenPipeError(32, "Broken pipe")
                lines.append(text)
                return len(text)

        self.burning.out = Broken(self.burning.out, tells=True)
        self.run_it(f"{FILE} web1", 1)
        self.assertEqual(self.client.instances, {})
        self.assertNotIn("OP_INSTANCE_REBOOT", self.sent())


class ConfdTests(RunCase):
    """The configuration daemons say what the master says."""

    def setUp(self) -> None:
        super().setUp()
        self.master = "node1"
        self.asked: list[str] = []
        self.lag = 0
        self.burning.confd = lambda: self.answer

    def answer(self, question: Question[Any]) -> Any:
        """As one that knows all, after some questions about instances."""
        self.asked.append(question.type.name)
        match question.type.name:
            case "CLUSTER_MASTER":
                return self.master
            case "NODE_INSTANCES":
                self.lag -= 1
                return NodeInstances(self.there(json.loads(bytes(question.query))) if self.lag < 0 else [], [])
            case "INSTANCE_DISKS":
                return [{}] * self.client.disks
        return 0

    def there(self, node: str) -> list[dict[str, Any]]:
        """The instances whose primary node it is."""
        return [{"name": name} for name, number in self.client.instances.items() if NODES[number % 3] == node]

    def test_agree(self) -> None:
        """Nodes, instances, disks and the master are asked for."""
        told = self.run_it("-t file web1 web2", 0)
        self.assertIn("3 nodes and 2 instances are as they should be", told)
        self.assertEqual(
            set(self.asked), {"PING", "CLUSTER_MASTER", "NODE_ROLE_BYNAME", "NODE_INSTANCES", "INSTANCE_DISKS"}
        )

    def test_late(self) -> None:
        """A change takes its time."""
        self.lag = 4
        self.run_it("-t file web1", 0)
        self.assertEqual(self.burning.passed, 2)

    def test_disagree(self) -> None:
        """What stays wrong is a failure."""
        self.master, self.lag = "node2", 10**6
        told = self.run_it("-t file --net-timeout=2 web1", 1)
        self.assertIn("the master is node2, and should be node1; web1 is not on node1", told)
        self.assertEqual(self.client.instances, {})

"""What a node knows of the configuration, and what stays when nobody answers."""

from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd.messages import RequestType
from ganeti_tx.model.settings.collectors import DataCollector
from ganeti_tx.mond.config_facts import DISKS_AGE, FIRST_ROUND, INTERVAL, QUIET, ConfigFacts
from ganeti_tx.mond.interfaces import KnownInstance, NodeFacts
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.mond.parts import Answering, put

PATHS = Paths("/n1")
INSTANCES = (RequestType.NODE_INSTANCES, '{"0":"node1","3":["uuid","name","hypervisor","admin_state","mtime","disks"]}')
WEB = ["u1", "web1", "kvm", "up", 12.5, ["d1"]]
MAIL = ["u2", "mail1", "kvm", "up", 12.5, ["d2"]]
PLAIN = {"uuid": "d1", "dev_type": "plain", "logical_id": ["xenvg", "d1"], "size": 8}
MIRROR = {
    "uuid": "d2", "dev_type": "drbd", "logical_id": ["n1", "n2", 11000, 0, 1, "s3cret"],
    "children": [{**PLAIN, "logical_id": ["xenvg", "d2_data"]}, {**PLAIN, "logical_id": ["xenvg", "d2_meta"]}],
}  # fmt: skip
FILE = {"uuid": "d3", "dev_type": "file", "logical_id": ["loop", "/srv/x"]}


def without_fault(facts: NodeFacts) -> NodeFacts:
    """All that counts."""
    return evolve(facts, fault="")


class ConfigFactsTests(SynchronousTestCase):
    """A node whose configuration daemons answer what the test says."""

    def setUp(self) -> None:
        self.clock, self.files = Clock(), MemoryFiles()
        self.questions = Answering({
            (RequestType.DATA_COLLECTORS, None): {"lv": {"active": False, "interval": 7_000_000}},
            INSTANCES: [[WEB], [MAIL]],
            (RequestType.NODE_DRBD, "node1"): [["node1", 1, "mail1", "disk/0", "secondary", "node2"]],
            (RequestType.INSTANCE_DISKS, "web1"): [PLAIN, FILE],
            (RequestType.INSTANCE_DISKS, "mail1"): [MIRROR],
        })  # fmt: skip
        self.told: list[Any] = []
        put(self.files, PATHS.ssconf_file("hypervisor_list"), "kvm\nxen-pvm\n")
        self.config = ConfigFacts(
            "node1", self.questions, self.files, PATHS, self.clock, lambda *words: self.told.append(words)
        )

    def asked(self, kind: RequestType) -> int:
        """How often it was asked."""
        return [each for each, _ in self.questions.asked].count(kind)

    def refresh(self) -> None:
        """One round."""
        self.successResultOf(Deferred.fromCoroutine(self.config.refresh()))

    def start(self) -> "Deferred[None]":
        """The first round, and more on the interval."""
        return Deferred.fromCoroutine(self.config.start())

    def test_nobody_at_the_start(self) -> None:
        """When nobody answers in the first round, all that needs no settings begins, and the questions go on."""
        self.questions.answers.clear()
        self.successResultOf(self.start())
        self.assertEqual((self.told, self.config.facts().heard), ([({}, ("kvm", "xen-pvm"))], False))
        self.clock.advance(INTERVAL)
        self.assertEqual(len(self.told), 2)
        self.config.stop()

    def test_slow_start(self) -> None:
        """Nobody waits long for the first round; its answers count when they come."""
        waiting: Deferred[Any] = Deferred()
        self.questions.answers[RequestType.DATA_COLLECTORS, None] = waiting
        starting = self.start()
        self.clock.advance(FIRST_ROUND)
        self.successResultOf(starting)
        self.assertEqual(self.told, [({}, ("kvm", "xen-pvm"))])
        waiting.callback({})
        self.assertTrue(self.config.facts().heard)
        self.config.stop()

    def test_facts(self) -> None:
        """The own instances, the volumes of all instances that have some here, and the minors, by instance."""
        self.assertFalse(self.config.facts().heard)
        self.refresh()
        facts = self.config.facts()
        instance = KnownInstance(uuid="u1", name="web1", hypervisor="kvm", admin_state="up", mtime=12.5)
        self.assertEqual((facts.instances, facts.minors, facts.heard), ((instance,), {1: "mail1"}, True))
        self.assertEqual(
            facts.volumes, {("xenvg", "d1"): "web1", ("xenvg", "d2_data"): "mail1", ("xenvg", "d2_meta"): "mail1"}
        )

    def test_no_secrets(self) -> None:
        """Of what is secret nothing is kept."""
        self.refresh()
        kept = repr((self.config.facts(), self.config._disks))
        self.assertNotIn("s3cret", kept)
        self.assertNotIn("password", kept)

    def test_told(self) -> None:
        """The settings and the hypervisors are told after each round."""
        self.successResultOf(self.start())
        settings = {"lv": DataCollector(active=False, interval=7_000_000)}
        self.assertEqual(self.told, [(settings, ("kvm", "xen-pvm"))])
        put(self.files, PATHS.ssconf_file("hypervisor_list"), "fake\n")
        self.clock.advance(INTERVAL)
        self.assertEqual(self.told[1:], [(settings, ("fake",))])
        self.config.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_nobody_answers(self) -> None:
        """When nobody answers all stays as it was, and the questions go on."""
        self.successResultOf(self.start())
        before = self.config.facts()
        answers = dict(self.questions.answers)
        self.questions.answers.clear()
        self.clock.pump([INTERVAL] * 3)
        self.assertEqual((without_fault(self.config.facts()), self.config.heard), (before, 0.0))
        self.assertEqual(self.told[-1], self.told[0])
        self.questions.answers.update(answers)
        self.questions.answers[INSTANCES] = [[], []]
        self.clock.advance(INTERVAL)
        self.assertEqual((self.config.facts().instances, self.config.facts().volumes), ((), {}))
        self.config.stop()

    def test_log(self) -> None:
        """A fault is told once, though its words change; another one later, and that all is well again."""
        self.refresh()
        with capturedLogs() as logged:
            for odd in ("x", [1], [[{"name": 1}], []], None):
                self.questions.answers[INSTANCES] = odd
                self.refresh()
                self.clock.advance(INTERVAL)
            self.clock.advance(QUIET)
            self.questions.answers[INSTANCES] = "x"
            self.refresh()
            self.refresh()
            self.questions.answers[INSTANCES] = [[], []]
            self.refresh()
            del self.questions.answers[INSTANCES]
            self.refresh()
        told = [formatEvent(each).partition(":")[0] for each in logged]
        stays = "the last known configuration stays"
        self.assertEqual(told, [stays, stays, "the configuration daemons answer", stays])

    def test_part(self) -> None:
        """What was answered counts, also when something else is not; what was not is told."""
        del self.questions.answers[INSTANCES]
        self.refresh()
        facts = self.config.facts()
        self.assertEqual((facts.minors, facts.heard, self.config.heard), ({1: "mail1"}, False, None))
        self.assertEqual(facts.fault, "NODE_INSTANCES: nobody answers")
        self.assertEqual(list(self.config.settings), ["lv"])

    def test_odd_answers(self) -> None:
        """An answer that does not fit changes nothing and stops nothing."""
        self.refresh()
        before = self.config.facts()
        for key in list(self.questions.answers):
            good = self.questions.answers[key]
            for odd in ("x", [1], [[{"name": 1}], []], {"lv": 3}, None):
                self.questions.answers[key] = odd
                self.clock.advance(DISKS_AGE)
                self.refresh()
                self.assertEqual(without_fault(self.config.facts()), before, (key, odd))
                self.assertNotEqual(self.config.facts().fault, "")
            self.questions.answers[key] = good

    def test_disks(self) -> None:
        """The disks are not asked for in every round: only when an instance has others, or after a while."""
        self.refresh()
        self.refresh()
        self.assertEqual(self.asked(RequestType.INSTANCE_DISKS), 2)
        self.questions.answers[INSTANCES] = [[[*WEB[:-1], ["d1", "d3"]]], [MAIL]]
        self.refresh()
        self.assertEqual(self.asked(RequestType.INSTANCE_DISKS), 3)
        self.clock.advance(DISKS_AGE)
        self.refresh()
        self.assertEqual(self.asked(RequestType.INSTANCE_DISKS), 5)

    def test_fault_of_ours(self) -> None:
        """A round that breaks is not the last one."""
        self.questions.answers[RequestType.DATA_COLLECTORS, None] = ZeroDivisionError()
        self.successResultOf(self.start())
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        self.questions.answers[RequestType.DATA_COLLECTORS, None] = {}
        self.clock.advance(INTERVAL)
        self.assertTrue(self.config.facts().heard)
        self.config.stop()

    def test_stopped_while_asking(self) -> None:
        """A stop waits for no answer."""
        cancelled: list[Any] = []
        waiting: Deferred[Any] = Deferred(cancelled.append)
        self.questions.answers[RequestType.DATA_COLLECTORS, None] = waiting
        starting = self.start()
        self.config.stop()
        self.successResultOf(starting)
        self.assertEqual(cancelled, [waiting])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_no_hypervisors(self) -> None:
        """A node whose files do not say which hypervisors there are has none."""
        self.files.remove(PATHS.ssconf_file("hypervisor_list"))
        self.refresh()
        self.assertEqual(self.told[-1][1], ())

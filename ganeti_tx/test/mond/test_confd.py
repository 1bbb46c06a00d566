"""What a node asks, put to the configuration daemon's own answers."""

import json
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.confd.messages import ErrorCode, RequestType, Status
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.mond.config_facts import ConfigFacts, IAsk
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.confd.cases import CONFIG, WEB1, ask
from ganeti_tx.test.fakes.files import MemoryFiles


@implementer(IAsk)
class Directly:
    """Asks without a network."""

    async def ask(self, question: Question[Any]) -> Any:
        """See `IAsk`."""
        status, answer, _ = ask(question.type, json.loads(bytes(question.query)))
        if status != Status.OK:
            raise ConfdClientError(str(answer))
        return question.read(answer)


class ConfdTests(SynchronousTestCase):
    """A node of confd's own example."""

    def facts(self, node: str) -> ConfigFacts:
        """What it knows after a round."""
        found = ConfigFacts(node, Directly(), MemoryFiles(), Paths(), Clock())
        self.successResultOf(Deferred.fromCoroutine(found.refresh()))
        return found

    def test_round(self) -> None:
        """Every answer fits: settings, instances, mirrors, disks."""
        found = self.facts("node1.example.com")
        self.assertEqual((found.facts().fault, found.heard), ("", 0.0))
        [instance] = found.facts().instances
        self.assertEqual(
            (instance.uuid, instance.name, instance.admin_state, instance.mtime),
            (WEB1.uuid, WEB1.name, WEB1.admin_state, WEB1.mtime),
        )
        self.assertEqual(found.facts().minors, {0: WEB1.name})
        self.assertEqual(found.settings, CONFIG.cluster.data_collectors)
        self.assertEqual(set(found.facts().volumes.values()), {WEB1.name})

    def test_secondary(self) -> None:
        """The volumes of instances whose secondary the node is are known, the instances are not its own."""
        found = self.facts("node2.example.com").facts()
        self.assertNotIn(WEB1.name, [each.name for each in found.instances])
        self.assertIn(WEB1.name, found.volumes.values())

    def test_unknown_node(self) -> None:
        """A node that the configuration does not know says so."""
        found = self.facts("node9.example.com").facts()
        self.assertFalse(found.heard)
        self.assertIn("node9", found.fault)

    def test_many(self) -> None:
        """Some hundreds of instances on one node fit."""
        many = {f"{WEB1.uuid}{number}": replace(WEB1, uuid=f"{WEB1.uuid}{number}") for number in range(300)}
        fields = ["uuid", "name", "hypervisor", "admin_state", "mtime", "disks"]
        status, answer, _ = ask(8, {"0": "node1", "3": fields}, config=replace(CONFIG, instances=many))
        self.assertEqual((status, len(answer[0])), (Status.OK, 300))

    def test_wrong_fields(self) -> None:
        """A field that no instance has is a wrong argument."""
        for query in ({"0": "node1", "3": ["nosuch"]}, {"0": "node1", "3": ["__class__"]}, {"0": "node1"}):
            self.assertEqual(ask(RequestType.NODE_INSTANCES, query)[:2], (Status.ERROR, ErrorCode.ARGUMENT))

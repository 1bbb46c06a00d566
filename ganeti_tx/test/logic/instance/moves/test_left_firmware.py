"""What the firmware and the TPM of an instance kept on a node that it has left goes, so that it never begins with that again."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.errors import HypervisorError, OpExecError
from ganeti_tx.model.migration import Side
from ganeti_tx.rpc.calls.instance import InstanceForget
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept, KeptNames, KeptOwners
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceMigrate,
    InstanceMigrationSide,
)
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.logic.instance.moves import test_secret
from ganeti_tx.test.logic.instance.moves.test_secret import ANYWHERE, MIGRATE, UP, MigrationCase
from ganeti_tx.test.logic.stage import GROUP

KEPT = {"tpm/tpm2-00.permall": b"what only the TPM knows"}
TPM, FLASH = [*KEPT], "variables.fd"
ORDERED = (InstanceKeep.name, AcceptInstance.name, InstanceForget.name)
THIRD = replace(
    ANYWHERE.nodes["node2-uuid"],
    uuid="node3-uuid",
    name="node3.example.com",
    primary_ip="192.0.2.33",
    secondary_ip="192.0.2.33",
)
FIRM = replace(UP, hvparams={**UP.hvparams, "tpm": True})


class LeftFirmwareTests(MigrationCase):
    """web1 has a TPM."""

    initial = replace(ANYWHERE, instances={FIRM.uuid: FIRM})

    def setUp(self) -> None:
        super().setUp()
        self.nodes.succeed(InstanceForget)

    def forgotten(self) -> list[str]:
        """By which nodes."""
        return [node for node, call in self.nodes.sent if isinstance(call, InstanceForget)]

    def test_migrated(self) -> None:
        """The old node forgets it when nothing of the instance is there any more."""
        self.run_op(MIGRATE)
        self.assertEqual(self.forgotten(), ["node1.example.com"])
        kinds = self.nodes.kinds()
        self.assertLess(kinds.index(InstanceFinalizeMigrationSrc.name), kinds.index(InstanceForget.name))

    def test_stays(self) -> None:
        """That it could not is told, and no failure."""
        self.nodes.fail(InstanceForget, "read-only file system")
        self.run_op(MIGRATE)
        self.assertRegex(" ".join(self.stage.feedback), "kept is still there: .*read-only file system")

    def test_failed(self) -> None:
        """It goes on with what is kept where it is; the other node forgets, once nothing waits there."""
        for kind in (InstanceMigrate, AcceptInstance):
            del self.nodes.sent[:]
            self.nodes.fail(kind, HypervisorError("no room"))
            self.refused(MIGRATE, OpExecError)
            self.assertEqual(self.forgotten(), ["node2.example.com"])
            kinds = self.nodes.kinds()
            self.assertLess(kinds.index(InstanceFinalizeMigrationDst.name), kinds.index(InstanceForget.name))

    def test_may_run_there(self) -> None:
        """Nothing is forgotten where it cannot be ended: it may need it."""
        self.nodes.fail(InstanceMigrate, HypervisorError("lost"))
        self.nodes.fail(InstanceFinalizeMigrationSrc, HypervisorError("it was sent"))
        self.nodes.fail(InstanceFinalizeMigrationDst, HypervisorError("it runs here"))
        self.nodes.answer(InstanceMigrationSide, Side.INCOMING)
        self.refused(MIGRATE, OpExecError)
        self.assertEqual(self.forgotten(), [])

    def test_cleaned_up(self) -> None:
        """After a migration that died, too."""
        self.nodes.answer(KeptOwners, [FIRM.uuid])
        self.nodes.answer(KeptNames, [*KEPT])
        self.nodes.answers[InstanceMigrationSide] = lambda node, call: Side.RUNS if node.startswith("node2") else None
        self.run_op(replace(MIGRATE, cleanup=True))
        self.assertEqual(self.forgotten(), ["node1.example.com"])

    def test_lost(self) -> None:
        """Where the instance does not run any more that may be all that there is of it."""
        self.nodes.answers[InstanceMigrationSide] = lambda node, call: (
            Side.FETCHED if node.startswith("node1") else None
        )
        self.refused(replace(MIGRATE, cleanup=True), OpExecError)
        self.assertEqual(self.forgotten(), [])


class IdleTests(MigrationCase):
    """web1 has had a TPM, and has none for now; its node has what that kept."""

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answers[InstanceKept] = lambda node, call: KEPT if call.idle and node.startswith("node1") else {}
        self.nodes.succeed(InstanceKeep)

    def test_goes_along(self) -> None:
        """It is on the new node before the machine comes there, and gone from the old one after that."""
        self.run_op(MIGRATE)
        found = [(node.partition(".")[0], call.name) for node, call in self.nodes.sent if call.name in ORDERED]
        self.assertEqual(found, list(zip(("node2", "node2", "node1"), ORDERED, strict=True)))
        self.assertEqual([call.files for call in self.nodes.of_kind(InstanceKeep)], [KEPT])

    def test_does_not(self) -> None:
        """What has not arrived is erased nowhere."""
        for kind in (InstanceKept, InstanceKeep):
            with self.subTest(kind=kind):
                self.stage = self.make_stage(self.initial)
                self.setUp()
                self.nodes.fail(kind, "no room")
                self.run_op(MIGRATE)
                self.assertEqual(self.nodes.of_kind(InstanceForget), [])
                self.assertRegex(" ".join(self.stage.feedback), "beside what it uses stays there: .*no room")


class IdleLeftTests(MigrationCase):
    """The same instance runs on its new node after a migration that died; a third one could have it, too."""

    initial = replace(
        ANYWHERE,
        nodes={**ANYWHERE.nodes, THIRD.uuid: THIRD},
        nodegroups={GROUP.uuid: replace(GROUP, members=(*GROUP.members, THIRD.uuid))},
    )

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answers[InstanceMigrationSide] = lambda node, call: Side.RUNS if node.startswith("node2") else None
        self.nodes.succeed(InstanceForget)

    def keep(self, **kept: Sequence[str]) -> None:
        """Nodes have files of these names."""
        has = {f"{name}.example.com": [*names] for name, names in kept.items()}
        self.nodes.answers[KeptOwners] = lambda node, call: [UP.uuid] if node in has else []
        self.nodes.answers[KeptNames] = lambda node, call: has.get(node, [])

    def cleaned_up(self) -> list[str]:
        """Which nodes forget."""
        self.run_op(replace(MIGRATE, target_node=None, cleanup=True))
        return [node.partition(".")[0] for node, call in self.nodes.sent if isinstance(call, InstanceForget)]

    def test_both_have_it(self) -> None:
        """The node that it has left forgets, whatever the instance's parameters are by now."""
        self.keep(node1=[*TPM, "tpm/older"], node2=[*TPM, FLASH])
        self.assertEqual(self.cleaned_up(), ["node1"])

    def test_on_a_third_node(self) -> None:
        """So does one to which it was to go at another time."""
        self.keep(node2=[FLASH], node3=[FLASH])
        self.assertEqual(self.cleaned_up(), ["node3"])

    def test_not_there(self) -> None:
        """What its node does not have may be all that there is: it stays, and is told of."""
        self.keep(node1=[*TPM, FLASH], node2=[FLASH])
        self.assertEqual(self.cleaned_up(), [])
        self.assertRegex(" ".join(self.stage.feedback), "node1.example.com keeps .* stays there: .* has no tpm")

    def test_nothing_there(self) -> None:
        """So it is where that one has nothing at all."""
        self.keep(node1=TPM)
        self.assertEqual(self.cleaned_up(), [])
        self.assertRegex(" ".join(self.stage.feedback), "stays there: node node2.example.com, .* has no tpm")

    def test_not_told(self) -> None:
        """Nor does anything go of which that is not known."""
        self.keep(node1=TPM, node2=TPM)
        self.nodes.fail(KeptNames, "a call that its version does not know")
        self.assertEqual(self.cleaned_up(), [])
        self.assertRegex(" ".join(self.stage.feedback), "stays there: .*does not know")


class XenFirmwareTests(MigrationCase):
    """One under a hypervisor that keeps nothing."""

    initial = test_secret.XenKeyTests.initial

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={"xen-pvm": {"memory_free": 4096}}))

    def test_migrated(self) -> None:
        """No node is asked."""
        self.run_op(MIGRATE)
        self.assertEqual(self.nodes.of_kind(InstanceForget) + self.nodes.of_kind(InstanceKept), [])

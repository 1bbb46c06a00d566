"""Migrations whose sides know each other by keys, and those that run before all is there."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import HypervisorError, OpExecError, OpPrereqError
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.enums import AdminState, Hypervisor
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.model.versions import MIGRATION_KEYS_SINCE, NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceAcceptAgain,
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceGetMigrationStatus,
    InstanceMigrate,
    InstanceMigrationSide,
    MigrationInfo,
)
from ganeti_tx.rpc.calls.mirror import BlockdevClose, BlockdevOpen
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, Version
from ganeti_tx.rpc.calls.transfer_keys import X509CertCreate, X509CertRemove
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.test.logic.instance.modify.scene import WEB1
from ganeti_tx.test.logic.stage import CLUSTER, CONFIG, INSTANCE, RUNNING, UnitTestCase

UP = replace(INSTANCE, admin_state=AdminState.UP, disks=())
ANYWHERE = replace(CONFIG, instances={UP.uuid: UP}, disks={})
OPEN_HVPARAMS = {Hypervisor.KVM.value: {**CLUSTER.hvparams.get(Hypervisor.KVM, {}), "migration_tls": False}}
MIGRATE = ops.OpInstanceMigrate(instance_name=WEB1, target_node="node2")
LOST = MigrationProgress(MigrationState.PAUSED)
FAILED = MigrationProgress(MigrationState.FAILED)
DONE = MigrationProgress(MigrationState.COMPLETED)


class MigrationCase(UnitTestCase):
    """web1 runs on node1 under QEMU, and node2 reaches all that it needs."""

    initial = ANYWHERE

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answers[InstanceInfo] = lambda node, call: RUNNING if node.startswith("node1") else None
        self.nodes.answer(MigrationInfo, {})
        self.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        self.nodes.answers[X509CertCreate] = lambda node, call: f"certificate of {node}"
        self.nodes.succeed(X509CertRemove, AcceptInstance, InstanceMigrate, BlockdevOpen, BlockdevClose)
        self.nodes.succeed(InstanceFinalizeMigrationSrc, InstanceFinalizeMigrationDst, InstanceAcceptAgain)
        self.progress(DONE)

    def progress(self, *told: MigrationProgress) -> None:
        """What the old node tells, one look after the other; the last one from then on."""
        left = list(told)
        self.nodes.answers[InstanceGetMigrationStatus] = lambda node, call: left.pop(0) if len(left) > 1 else left[0]

    @property
    def primary(self) -> str:
        """Where it is configured to be."""
        return self.stage.snapshot.instances[UP.uuid].primary_node


class AddressTests(MigrationCase):
    """From where the machine comes."""

    def test_told(self) -> None:
        """Both nodes know by which address the new one knows the old one, so that nobody else is let in."""
        self.run_op(MIGRATE)
        [accept], [send] = self.nodes.of_kind(AcceptInstance), self.nodes.of_kind(InstanceMigrate)
        own = self.initial.nodes["node1-uuid"].secondary_ip
        self.assertEqual((accept.source, send.source), (own, own))

    def test_same(self) -> None:
        """Who sends is told what who takes was told, so that nothing of it has changed meanwhile."""
        told = {"stopped": True}
        self.nodes.answer(MigrationInfo, told)
        self.run_op(MIGRATE)
        [accept], [send] = self.nodes.of_kind(AcceptInstance), self.nodes.of_kind(InstanceMigrate)
        self.assertEqual((accept.info, send.info), (told, told))


class KeyTests(MigrationCase):
    """By what the nodes know each other."""

    may_do_without = True

    def test_made(self) -> None:
        """Each is told the other's certificate, and nothing stays of the keys."""
        self.run_op(MIGRATE)
        [accept], [send] = self.nodes.of_kind(AcceptInstance), self.nodes.of_kind(InstanceMigrate)
        self.assertEqual(
            [(each.tls.peer, each.tls.peer_name) for each in (accept, send)],
            [(f"certificate of {name}", name) for name in ("node1.example.com", "node2.example.com")],
        )
        made = {(node, call.key) for node, call in self.nodes.sent if isinstance(call, X509CertCreate)}
        self.assertEqual(made, {(node, accept.tls.key) for node in ("node1.example.com", "node2.example.com")})
        self.assertEqual(accept.tls.key, send.tls.key)
        self.assertEqual({(n, c.key) for n, c in self.nodes.sent if isinstance(c, X509CertRemove)}, made)

    def test_removed(self) -> None:
        """They go with a migration that fails, too."""
        self.nodes.fail(AcceptInstance, HypervisorError("no room"))
        self.assertIn("no room", self.refused(MIGRATE, OpExecError))
        self.assertEqual(len(self.nodes.of_kind(X509CertRemove)), 2)

    def test_removed_after_sending(self) -> None:
        """And with one after which it is not known whether the instance runs on its new node."""
        self.nodes.fail(InstanceFinalizeMigrationDst, HypervisorError("no such vlan"))
        self.assertIn("not known whether it runs there", self.refused(MIGRATE, OpExecError))
        self.assertEqual(len(self.nodes.of_kind(X509CertRemove)), 2)

    def test_removed_while_sending(self) -> None:
        """Or in the midst of which that is so."""
        self.progress(FAILED)
        self.nodes.answer(InstanceMigrationSide, Side.SENT)
        self.nodes.fail(InstanceFinalizeMigrationSrc, HypervisorError("it was sent"))
        self.nodes.fail(InstanceFinalizeMigrationDst, HypervisorError("it runs here already"))
        self.refused(MIGRATE, OpExecError)
        self.assertEqual(len(self.nodes.of_kind(X509CertRemove)), 2)

    def test_none_made(self) -> None:
        """Without keys nothing is sent."""
        self.nodes.fail(X509CertCreate, "the disk is full")
        self.assertIn("could not make a key on node node1", self.refused(MIGRATE, OpExecError))
        self.assertEqual(self.nodes.of_kind(AcceptInstance), [])

    def test_older(self) -> None:
        """A node that would leave the keys out is named before anything is made."""
        for name in ("node1.example.com", "node2.example.com"):
            self.nodes.answers[Version] = lambda node, call, name=name: MIGRATION_KEYS_SINCE - (node == name)  # type: ignore[misc]
            said = self.refused(MIGRATE, OpPrereqError)
            self.assertIn(f"node {name} runs an older version that cannot encrypt migrations", said)
            self.assertEqual(f"gnt-instance modify -H migration_tls=false {UP.name}" in said, self.may_do_without)
        self.assertEqual(self.nodes.of_kind(X509CertCreate), [])


class XenKeyTests(KeyTests):
    """The same under Xen, which has no parameter for it."""

    may_do_without = False

    initial = replace(
        ANYWHERE,
        cluster=replace(CLUSTER, enabled_hypervisors=(*CLUSTER.enabled_hypervisors, Hypervisor.XEN_PVM)),
        instances={UP.uuid: replace(UP, hypervisor=Hypervisor.XEN_PVM)},
    )

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={"xen-pvm": {"memory_free": 4096}}))


class SilentTests(MigrationCase):
    """A stranger keeps the QEMU that waits from answering."""

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answers[InstanceMigrationSide] = self.side

    def side(self, node: str, call: InstanceMigrationSide) -> Side:
        """The new node's is silent."""
        if node.startswith("node1"):
            return self.source
        raise NodeCallError(f"{node}: nothing came within 5 s")

    source = Side.RUNS

    def ends(self) -> list[bool]:
        """Whether the new node was told that the instance goes on where it was, each time that it was to give up."""
        return [call.goes_on_elsewhere for call in self.nodes.of_kind(InstanceFinalizeMigrationDst) if not call.success]

    def test_source_goes_on(self) -> None:
        """The new node is told so once the old one has said so."""
        self.nodes.fail(InstanceMigrate, HypervisorError("it has not shown who it is"))
        self.assertIn("has not shown", self.refused(MIGRATE, OpExecError))
        self.assertEqual((self.ends(), self.primary), ([True], "node1-uuid"))

    def test_source_silent(self) -> None:
        """It is not as long as the old one has not."""
        self.nodes.fail(InstanceMigrate, HypervisorError("it has not shown who it is"))
        self.nodes.fail(InstanceFinalizeMigrationSrc, HypervisorError("all of it was sent, it may run elsewhere"))
        self.nodes.fail(InstanceFinalizeMigrationDst, HypervisorError("nothing came within 5 s"))
        self.refused(MIGRATE, OpExecError)
        self.assertEqual((self.ends(), self.primary), ([False], "node2-uuid"))

    def test_cleaned(self) -> None:
        """What a migration has left is ended where the old node surely has the instance."""
        self.run_op(replace(MIGRATE, cleanup=True))
        self.assertEqual((self.ends(), self.primary), ([True], "node1-uuid"))

    def test_not_cleaned(self) -> None:
        """It stays where the old one may not have it any more."""
        for self.source in (Side.SENT, Side.SENDING, Side.FETCHED, Side.INCOMING):
            self.assertIn("nothing came within", self.refused(replace(MIGRATE, cleanup=True), OpPrereqError))
        self.assertEqual(self.ends(), [])


class OpenTests(MigrationCase):
    """Where the parameter says that whoever comes is believed."""

    initial = replace(ANYWHERE, cluster=replace(CLUSTER, hvparams={**CLUSTER.hvparams, **OPEN_HVPARAMS}))

    def test_not_made(self) -> None:
        """No keys are made, and none is told; older nodes do as well."""
        self.nodes.answer(Version, MIGRATION_KEYS_SINCE - 1)
        self.run_op(MIGRATE)
        self.assertEqual(self.nodes.of_kind(X509CertCreate), [])
        self.assertEqual([each.tls for each in self.nodes.of_kind(AcceptInstance)], [None])
        self.assertEqual([each.tls for each in self.nodes.of_kind(InstanceMigrate)], [None])


class LostTests(MigrationCase):
    """The connection is lost when the instance runs on its new node already."""

    def test_made_anew(self) -> None:
        """Both nodes are told to go on, the new one first."""
        self.progress(LOST, MigrationProgress(MigrationState.POSTCOPY), DONE)
        running = self.stage.run(MIGRATE)
        self.stage.clock.pump([0.1] * 20)
        self.successResultOf(running)
        again = [call.name for _, call in self.nodes.sent if isinstance(call, InstanceAcceptAgain | InstanceMigrate)][
            1:
        ]
        self.assertEqual(again, ["instance_accept_again", "instance_migrate"])
        self.assertEqual([call.again for call in self.nodes.of_kind(InstanceMigrate)], [False, True])
        self.assertEqual(self.primary, "node2-uuid")

    def test_stays_lost(self) -> None:
        """After some tries that is an error; it is not taken for anything but an instance that runs on its new node."""
        self.progress(LOST)
        self.nodes.fail(InstanceAcceptAgain, "nobody there")
        self.nodes.fail(InstanceFinalizeMigrationSrc, HypervisorError("it has run elsewhere since"))
        self.nodes.answer(InstanceMigrationSide, Side.FETCHING)
        self.nodes.fail(InstanceFinalizeMigrationDst, HypervisorError("it runs here already"))
        running = self.stage.run(MIGRATE)
        self.stage.clock.pump([1.0] * 60)
        said = str(self.failureResultOf(running, OpExecError).value)
        self.assertIn("some of its memory is still on node node1.example.com", said)
        self.assertEqual(len(self.nodes.of_kind(InstanceAcceptAgain)), 5)
        self.assertEqual(self.primary, "node2-uuid")
        self.assertNotIn(True, [each.success for each in self.nodes.of_kind(InstanceFinalizeMigrationSrc)])


class FailedTests(MigrationCase):
    """A transfer that comes to nothing."""

    def said(self, here: MigrationProgress, there: MigrationProgress | Exception) -> str:
        """The job's error, from what each node tells."""

        def told(node: str, call: InstanceGetMigrationStatus) -> MigrationProgress:
            if node.startswith("node1"):
                return here
            if isinstance(there, Exception):
                raise there
            return there

        self.nodes.answers[InstanceGetMigrationStatus] = told
        return self.refused(MIGRATE, OpExecError)

    def test_reason(self) -> None:
        """The new node may know more; what it does not know is left out. Before it is asked the instance goes on where it was."""
        failed, silent = MigrationProgress(MigrationState.FAILED), NodeCallError("instance web1 does not run")
        told = replace(failed, reason="Failed to load virtio-blk:virtio (/the/log)")
        begin = f"could not migrate instance {WEB1}: the transfer has failed"
        self.assertEqual(self.said(failed, told), f"{begin}; on node node2.example.com: {told.reason}")
        kinds = [type(call) for _, call in self.nodes.sent]
        last_look = len(kinds) - 1 - kinds[::-1].index(InstanceGetMigrationStatus)
        self.assertLess(kinds.index(InstanceFinalizeMigrationSrc), last_look)
        self.assertEqual(self.primary, "node1-uuid")
        for there in (failed, silent, MigrationProgress(MigrationState.CANCELLED, reason="nothing is being sent")):
            self.assertEqual(self.said(replace(failed, reason="no room"), there), f"{begin}: no room")

    def test_cancelled(self) -> None:
        """By whoever told QEMU so."""
        cancelled = MigrationProgress(MigrationState.CANCELLED)
        self.assertIn("the transfer has been cancelled", self.said(cancelled, replace(cancelled, reason="x")))


class CleanUpTests(MigrationCase):
    """What a migration has left that died after the instance had begun to run on its new node."""

    def sides(self, **found: Side) -> None:
        """What each node has."""
        self.nodes.answers[InstanceMigrationSide] = lambda node, call: found.get(node.split(".")[0])

    def cleaned(self) -> Any:
        """What a clean-up comes to."""
        return self.stage.run(replace(MIGRATE, cleanup=True))

    def test_fetched(self) -> None:
        """The rest of the memory comes first, over a connection that is made anew, then the old one goes."""
        self.sides(node1=Side.FETCHED, node2=Side.FETCHING)
        self.progress(LOST, DONE)
        running = self.cleaned()
        self.stage.clock.pump([0.1] * 20)
        self.successResultOf(running)
        [end] = self.nodes.of_kind(InstanceFinalizeMigrationSrc)
        self.assertTrue(end.success)
        self.assertEqual((len(self.nodes.of_kind(InstanceAcceptAgain)), self.primary), (1, "node2-uuid"))

    def test_source_gone(self) -> None:
        """Where nobody has the rest, the instance cannot go on, and is told to be started anew."""
        self.sides(node2=Side.FETCHING)
        said = str(self.failureResultOf(self.cleaned(), OpExecError).value)
        self.assertIn("does not have it any more", said)

    def test_target_gone(self) -> None:
        """What stands still where it was is too old to go on: it goes."""
        self.sides(node1=Side.FETCHED)
        said = str(self.failureResultOf(self.cleaned(), OpExecError).value)
        self.assertIn("does not run any more", said)
        [end] = self.nodes.of_kind(InstanceFinalizeMigrationSrc)
        self.assertEqual((end.success, end.target_is_gone), (True, True))

"""Undos as data."""

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.jobs.taking_back import TakingBack
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.logical_id import HIDDEN
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.undo import NodeUndo, Undo, UndoRecord, with_secrets, without_secrets
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, decode_job, encode_job, ended
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.mirror import DrbdAttachNet
from ganeti_tx.test.model.samples import DISK

NODE = NodeAddress("node1.example.com", "192.0.2.1")
SECRET = "0123456789abcdef"
VOLUMES = [DiskSpec(uuid=f"v{n}", dev_type="plain", size=1, logical_id=["xenvg", f"v{n}"]) for n in (1, 2)]
MIRROR = DiskSpec(
    uuid="d", dev_type="drbd", size=1, logical_id=["node1", "node2", 11000, 0, 0, SECRET], children=VOLUMES
)


def job_with(undo: Undo) -> QueuedJob:
    """One that has begun something."""
    record = UndoRecord(steps=[undo], locks={"instance/web1": "exclusive"})
    return QueuedJob(id=1, ops=[QueuedOp(input={"OP_ID": "OP_INSTANCE_CREATE"}, status=Status.RUNNING, undo=record)])


class UndoTests(SynchronousTestCase):
    """What stands in job files."""

    def test_no_secrets(self) -> None:
        """The secret of a mirrored disk is not written down, at whatever depth; all else is."""
        nested = DiskSpec(uuid="o", dev_type="plain", size=1, logical_id=["a", "b"], children=[MIRROR])
        undo = on_node("remove it", NODE, BlockdevRemove(disk=nested, owner="web1"))
        data = encode_job(job_with(undo))
        self.assertNotIn(SECRET.encode(), data)
        self.assertIn(b"192.0.2.1", data)
        call = msgspec.convert(undo.arguments, BlockdevRemove)
        self.assertEqual(call.disk.children[0].logical_id, ["node1", "node2", 11000, 0, 0, HIDDEN])
        self.assertEqual(call.disk.children[0].children, VOLUMES)

    def test_filled_in(self) -> None:
        """What is secret of disks that the configuration has is put back where it was; others stay as they are."""
        known = without_secrets(
            msgspec.to_builtins(DrbdAttachNet(disks=[replace(MIRROR, uuid=DISK.uuid)], multimaster=False))
        )
        call = msgspec.convert(with_secrets(known, {DISK.uuid: DISK}), DrbdAttachNet)
        self.assertEqual((call.disks[0].logical_id or [])[-1], DISK.secrets[0])
        call = msgspec.convert(with_secrets(known, {}), DrbdAttachNet)
        self.assertEqual((call.disks[0].logical_id or [])[-1], HIDDEN)

    def test_no_secret_parameters(self) -> None:
        """Nor are an instance's private and secret OS parameters."""
        instance = {"name": "web1", "osparams_private": {"key": SECRET}, "osparams_secret": {"key": SECRET}}
        self.assertNotIn(SECRET, str(without_secrets({"instance": instance, "more": [instance]})))

    def test_round_trip(self) -> None:
        """A job file gives back what was written."""
        undo = in_config("mark it", IConfig.set_instance_state, "uuid", AdminState.DOWN, AdminStateSource.ADMIN, False)
        job = job_with(undo)
        self.assertEqual(decode_job(encode_job(job)), job)
        self.assertEqual(job.interrupted, (0, job.ops[0].undo))

    def test_older_file(self) -> None:
        """A file without the key stays readable, and a job that has begun nothing is written without it."""
        job = QueuedJob(id=1, ops=[QueuedOp(input={"OP_ID": "OP_TEST_DELAY"}, status=Status.RUNNING)])
        self.assertNotIn(b"undo", encode_job(job))
        self.assertIsNone(decode_job(encode_job(job)).interrupted)

    def test_gone_at_the_end(self) -> None:
        """A job that is ended has begun nothing any more."""
        undo = in_config("remove it", IConfig.remove_instance, "uuid")
        self.assertNotIn(b'"undo"', encode_job(ended(job_with(undo), Status.ERROR, None, 1.0)))

    def test_unknown_call(self) -> None:
        """An undo of another version is refused with its name."""
        undo = NodeUndo(title="x", node="node1", primary_ip="192.0.2.1", call="frobnicate", arguments={})
        doing = TakingBack(None, None, Clock())  # type: ignore[arg-type]
        self.assertIn("frobnicate", str(self.failureResultOf(as_deferred(doing, undo)).value))


def as_deferred(doing: TakingBack, undo: Undo) -> "Deferred[None]":
    """The undo, begun."""
    return Deferred.fromCoroutine(doing(undo))

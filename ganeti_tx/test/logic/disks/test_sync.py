"""Waiting for mirrored disks: what is asked, what is told, and when it is given up."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.sync import INTERVAL, LONGEST_INTERVAL, MAX_VAIN, interval, remaining, wait_for_sync
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.mirror import BlockdevGetmirrorstatus
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, UnitTestCase
from ganeti_tx.test.model.samples import DISK

WELL = BlockDevStatus(dev_path="/dev/drbd0", size=1024)
DEGRADED = replace(WELL, is_degraded=True)


def syncing(percent: float, seconds: float | None) -> BlockDevStatus:
    """A disk that is being filled."""
    return replace(DEGRADED, sync_percent=percent, estimated_time=seconds)


class SyncTests(UnitTestCase):
    """A mirrored instance whose primary node tells one state after the other."""

    initial = replace(CONFIG, instances={INSTANCE.uuid: replace(INSTANCE, network_port=None)}, disks={DISK.uuid: DISK})

    def wait(self, *states: BlockDevStatus | str) -> "Deferred[None]":
        """Wait while the node tells this; the last counts from then on. A text is why it does not tell."""
        view = self.successResultOf(Deferred.fromCoroutine(self.stage.config.instance_view(INSTANCE.name)))
        coming, self.pauses = [*states], list[float]()

        def answer(node: str, call: NodeCall[object]) -> list[BlockDevStatus]:
            state = coming.pop(0) if len(coming) > 1 else coming[0]
            if isinstance(state, str):
                raise NodeCallError(state)
            return [state]

        async def pause(seconds: float) -> None:
            self.pauses.append(seconds)

        self.nodes.answers[BlockdevGetmirrorstatus] = answer
        return Deferred.fromCoroutine(wait_for_sync(self.nodes, view, self.stage.feedback.append, pause))

    def test_progress(self) -> None:
        """It is looked again when it should be done, and told each time."""
        self.successResultOf(self.wait(syncing(0, 3725), syncing(50, 20), syncing(99, None), WELL))
        self.assertEqual(self.pauses, [LONGEST_INTERVAL, 20.0, INTERVAL])
        self.assertEqual(self.stage.feedback, [
            f"- INFO: Waiting for instance {INSTANCE.name} to sync disks",
            "- INFO: - device disk/0:  0.00% done, 1h 2m 5s remaining (estimated)",
            "- INFO: - device disk/0: 50.00% done, 20s remaining (estimated)",
            "- INFO: - device disk/0: 99.00% done, no time estimate",
            f"- INFO: Instance {INSTANCE.name}'s disks are in sync",
        ])  # fmt: skip

    def test_given_up(self) -> None:
        """Degraded without progress, or a node that does not tell, is waited for some looks only."""
        for state, why in ((DEGRADED, "some degraded disks"), ("node1: gone", "node1: gone")):
            failed = self.failureResultOf(self.wait(state), OpExecError)
            self.assertIn(why, str(failed.value))
            self.assertEqual(self.pauses, [INTERVAL] * (MAX_VAIN - 1))

    def test_comes_back(self) -> None:
        """What is vain is counted in a row."""
        vain = [DEGRADED] * (MAX_VAIN - 1)
        self.successResultOf(self.wait(*vain, syncing(10, 1), *vain, syncing(20, 1), WELL))

    def test_no_secret(self) -> None:
        """Looking needs none."""
        self.successResultOf(self.wait(WELL))
        (call,) = self.nodes.of_kind(BlockdevGetmirrorstatus)
        self.assertNotIn("s3cret", str(call.disks[0].logical_id))

    def test_words(self) -> None:
        """Times of all lengths, and looks within limits."""
        self.assertEqual([remaining(syncing(0, seconds)).split(" remaining")[0] for seconds in (0, 59.6, 3600)],
                         ["0s", "1m 0s", "1h 0m 0s"])  # fmt: skip
        self.assertEqual([interval([]), interval([syncing(0, 0.1)])], [INTERVAL, INTERVAL])

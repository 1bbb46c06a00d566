"""Another node becomes the master of a whole cluster, and the old one comes back."""

from random import Random
from typing import Any

from ganeti_tx.errors import GanetiError
from ganeti_tx.test.inprocess.case import delay
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.failover_case import FailoverCase
from ganeti_tx.test.inprocess.master_service import failover


class FailoverTests(FailoverCase):
    """Three candidates, of which node1 is the master."""

    def test_planned(self) -> None:
        """The old master is stopped, and its running job ends as failed; a queued one is run by the new one."""
        luxi = self.luxi()
        running = luxi.submit_job([delay(100.0)])
        queued = luxi.submit_job([{**delay(0.0), "depends": [[running, ["error"]]]}])
        self.cluster.pass_time(5)
        self.fail_over(2)
        self.assert_master(2)
        self.assertEqual(self.statuses(running, queued), ["error", "success"])

    def test_old_one_boots(self) -> None:
        """A master without power is replaced; its daemons do not start when it is back."""
        self.cluster.pass_time(5)
        old = self.cluster.acting
        self.cluster.lose_power(self.cluster.master, Random(0))
        self.fail_over(3)
        self.cluster.node(1).boot()
        self.failureResultOf(self.started(old.start_wconfd_later()), GanetiError)
        old.kill_wconfd()
        self.cluster.pass_time(400)
        self.assert_master(3)

    def started(self, starting: Any) -> Any:
        """Let a start take its time."""
        self.cluster.pass_time(60)
        return starting

    def test_cut_off(self) -> None:
        """A master that nobody reached ends itself when it is reached again."""
        self.cluster.pass_time(5)
        address = self.cluster.master.address
        self.cluster.network.silent.add(address)
        self.fail_over(2)
        self.assertEqual(self.masters(), ["node1", "node2"])
        self.cluster.network.silent.discard(address)
        self.cluster.pass_time(400)
        self.assert_master(2)

    def test_from_what_is_left(self) -> None:
        """A WConfD that is left alone of a term ends before the next one begins, also on the same node."""
        self.cluster.pass_time(5)
        for node in self.cluster.members[1:]:
            node.stop()
        self.cluster.kill_luxid()
        taking = failover(self.cluster.acting, lambda line: None)
        self.cluster.pass_time(2)
        for node in self.cluster.members[1:]:
            node.start()
        self.cluster.run(taking)
        self.assert_master(1)

    def drained(self) -> list[int]:
        """The nodes with the drain flag."""
        flag = self.cluster.paths.queue_drain_file
        return [number for number in (1, 2, 3) if self.cluster.node(number).disk.exists(flag)]

    def drain(self) -> None:
        """Close the queue on the first master."""
        self.luxi().set_drain_flag(True)
        self.cluster.pass_time(5)
        self.assertEqual(self.drained(), [1, 2, 3])

    def test_drained_before(self) -> None:
        """A queue that was drained before a planned failover and opened after it is open everywhere."""
        self.drain()
        self.fail_over(2)
        self.luxi().set_drain_flag(False)
        self.cluster.pass_time(10)
        self.assertEqual(self.drained(), [])

    def test_drained_master_is_away(self) -> None:
        """When the master was gone meanwhile, it gives the flag up when it is back."""
        self.drain()
        self.cluster.lose_power(self.cluster.master, Random(0))
        self.fail_over(2)
        self.luxi().set_drain_flag(False)
        self.cluster.node(1).boot()
        self.cluster.pass_time(400)
        self.assertEqual(self.drained(), [])

    def test_drained_alone(self) -> None:
        """A master that was cut off when its queue was drained gives the flag up when it follows another."""
        self.cluster.pass_time(5)
        address = self.cluster.master.address
        self.cluster.network.silent.add(address)
        self.luxi().set_drain_flag(True)
        self.fail_over(2)
        self.cluster.network.silent.discard(address)
        self.cluster.pass_time(400)
        self.assertEqual(self.drained(), [])

    # Users of the Remote API

    def revoke(self) -> list[tuple[str, str]]:
        """Take the only token away on the master; the candidates that are told to lack the change."""
        put(self.cluster.master.disk, self.cluster.paths.rapi_tokens_file, b"", 0o640)
        return self.cluster.run(self.spread())

    async def spread(self) -> Any:
        """As WConfD does when the command asks for it."""
        await self.cluster.wconfd.rapi_files.look()
        return await self.cluster.wconfd.distributor.candidates_without(5.0)

    def tokens(self, number: int) -> bytes:
        """What a node would let in as the master."""
        return self.cluster.node(number).disk.read(self.cluster.paths.rapi_tokens_file, 99)

    def with_token(self) -> None:
        """All have the token."""
        self.cluster.pass_time(5)
        put(self.cluster.master.disk, self.cluster.paths.rapi_tokens_file, b"ci 00 never", 0o640)
        self.assertEqual(self.cluster.run(self.spread()), [])
        self.assertEqual([self.tokens(number) for number in (1, 2, 3)], [b"ci 00 never"] * 3)

    def test_revoked_token(self) -> None:
        """A token that was revoked on the old master is revoked on the new one, though that one was lost at once."""
        self.with_token()
        self.assertEqual(self.revoke(), [])
        self.cluster.lose_power(self.cluster.master, Random(0))
        self.fail_over(2)
        self.assertEqual(self.tokens(2), b"")

    def test_revoked_while_away(self) -> None:
        """A candidate that was away when a token was revoked cannot become the master before it knows."""
        self.with_token()
        self.cluster.node(3).stop()
        [(name, _why)] = self.revoke()
        self.assertEqual(name, self.cluster.node(3).name)
        self.cluster.lose_power(self.cluster.master, Random(0))
        self.cluster.node(3).start()
        with self.assertRaisesRegex(GanetiError, "has configuration"):
            self.fail_over(3)
        self.fail_over(2)
        self.cluster.pass_time(60)
        self.assertEqual((self.tokens(2), self.tokens(3)), (b"", b""))

    def test_old_master_comes_back(self) -> None:
        """What the old master's disk still has is not brought to anybody, and the newer files replace it."""
        self.with_token()
        self.cluster.lose_power(self.cluster.master, Random(0))
        self.fail_over(2)
        self.assertEqual([name for name, _why in self.revoke()], [self.cluster.node(1).name])
        self.cluster.node(1).boot()
        self.cluster.pass_time(400)
        self.assertEqual([self.tokens(number) for number in (1, 2, 3)], [b""] * 3)

    def test_there_and_back(self) -> None:
        """The old master can become the master again."""
        self.cluster.pass_time(5)
        self.fail_over(2)
        self.fail_over(1)
        self.cluster.pass_time(60)
        self.assert_master(1)

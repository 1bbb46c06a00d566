"""Jobs that are cancelled in a whole cluster, at every moment: what is said is true, and nothing is left."""

from typing import Any

from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.test_slots import limit_running

ADD = "gnt-instance add --submit -t file -s 1G -o noop -n node2 web1"
NODE2 = "node2.example.com"


def tag_node(*tags: str) -> dict[str, Any]:
    """An opcode that needs a node's lock alone."""
    return {"OP_ID": "OP_TAGS_SET", "kind": "node", "name": NODE2, "tags": list(tags), "reason": []}


class MomentTests(ClusterCase):
    """Cancels and kills at every moment."""

    def test_creation(self) -> None:
        """A creation that is cancelled ends as was said, and leaves all of the instance or nothing; no lock stays held."""
        seen = set()
        for step in range(45):
            cluster = self.cluster = self.new_cluster()
            job_id = self.scene().submit(ADD)
            cluster.pass_time(step * 0.004 if step < 25 else 1.5 + step * 0.06)
            done, text = self.luxi().cancel_job(job_id)
            where = f"step {step}: {text}"
            if done and "will be" not in text:
                self.assertEqual(self.statuses(job_id), ["canceled"], where)
            cluster.pass_time(60)
            (status,) = self.statuses(job_id)
            seen.add((text.replace(str(job_id), "N"), status))
            if status == "canceled":
                self.assertTrue(done, where)
                self.assert_nothing_left(cluster)
            else:
                self.assertEqual((status, cluster.running()), ("success", {NODE2: ["web1.example.com"]}), where)
            self.assert_nothing_held(cluster)
            cluster.end()
        self.assertIn(("Job N canceled", "canceled"), seen)
        self.assertIn(("Job N will be canceled at its next safe point, unless it ends before", "canceled"), seen)
        self.assertIn(("Job N is finished (success), it cannot be canceled", "success"), seen)

    def test_kill_at_every_moment(self) -> None:
        """A killed job is canceled when the answer is given, and its locks are free at once."""
        for step in range(30):
            cluster = self.cluster = self.new_cluster()
            job_id = self.luxi().submit_job([delay(0.02, on_nodes=[NODE2], no_locks=False)] * 2)
            cluster.pass_time(step * 0.004)
            done, text = self.luxi().cancel_job(job_id, kill=True)
            self.assertEqual(self.statuses(job_id), ["canceled" if done else "success"], f"step {step}: {text}")
            self.assert_nothing_held(cluster)
            cluster.end()

    def test_while_jobs_take_turns(self) -> None:
        """A job that is cancelled while it is handed over, runs or steps back never runs on after the answer."""
        for step in range(60):
            cluster = self.cluster = self.new_cluster()
            limit_running(cluster, 1)
            say = {"OP_ID": "OP_TEST_JQUEUE", "log_messages": ["x"], "reason": []}
            jobs = [job_id for _, job_id in self.luxi().submit_many_jobs([[say] * 3] * 2)]
            cluster.pass_time(step * 0.002)
            done, text = self.luxi().cancel_job(jobs[0])
            before = [len(op.log) for op in self.job(jobs[0]).ops]
            cluster.pass_time(30)
            where = f"step {step}: {text}"
            statuses = self.statuses(*jobs)
            self.assertEqual(statuses[1], "success", where)
            if done and "will be" not in text:
                self.assertEqual(
                    (statuses[0], [len(op.log) for op in self.job(jobs[0]).ops]), ("canceled", before), where
                )
            elif not done:
                self.assertEqual(statuses[0], "success", where)
            cluster.end()


class WaitingTests(ClusterCase):
    """Jobs that wait, and what becomes of their locks."""

    def held_by(self, job_id: int) -> list[str]:
        """The locks that a job holds or waits for."""
        found = []
        for status in self.cluster.locks():
            owners = [*status.owners, *(owner for _, waiting in status.pending for owner in waiting)]
            found += [str(status.lock) for owner in owners if owner.job_id == job_id]
        return found

    def test_waiting_for_a_lock(self) -> None:
        """It is canceled when the answer is given, and holds nothing a second later."""
        luxi = self.luxi()
        first = luxi.submit_job([delay(50.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        second = luxi.submit_job([tag_node("x")])
        self.cluster.pass_time(0.5)
        self.assertNotEqual(self.held_by(second), [])
        self.assertEqual(luxi.cancel_job(second), [True, f"Job {second} canceled"])
        self.assertEqual(self.statuses(second), ["canceled"])
        self.assertEqual(self.held_by(second), [])
        luxi.cancel_job(first)

    def test_stepped_back(self) -> None:
        """A job that has gone back to the queue is canceled at once, too."""
        limit_running(self.cluster, 1)
        luxi = self.luxi()
        first, second = (luxi.submit_job([delay(10.0), delay(10.0)]) for _ in range(2))
        self.cluster.pass_time(15)
        self.assertEqual(self.statuses(first, second), ["queued", "running"])
        self.assertEqual(luxi.cancel_job(first), [True, f"Job {first} canceled"])
        self.assertEqual([op.status.value for op in self.job(first).ops], ["success", "canceled"])
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(first, second), ["canceled", "success"])

    def test_long_node_call(self) -> None:
        """A delay on a node is given up at once."""
        luxi = self.luxi()
        job_id = luxi.submit_job([delay(500.0, on_nodes=[NODE2], on_master=False, no_locks=False)])
        self.cluster.pass_time(5)
        luxi.cancel_job(job_id)
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(job_id), ["canceled"])
        self.assertIn("before test_delay on node2.example.com", str(self.job(job_id).ops[0].result))
        self.assert_nothing_held(self.cluster)

    def test_process_dies(self) -> None:
        """A job whose process dies is in error, with its locks free, within a second."""
        job_id = self.luxi().submit_job([delay(500.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(2)
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.pass_time(0.9)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assertIn(f"process {process_id} of job {job_id}", str(self.job(job_id).ops[0].result))
        self.assert_nothing_held(self.cluster)

    def test_new_luxid(self) -> None:
        """A job of an earlier luxid can be cancelled as soon as the new one is up."""
        luxi = self.luxi()
        job_id = luxi.submit_job([delay(500.0), delay(500.0)])
        self.cluster.pass_time(2)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assertEqual(self.luxi().cancel_job(job_id)[0], True)
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(job_id), ["canceled"])

    def test_luxid_dies_after_the_answer(self) -> None:
        """What was said stays true when luxid dies after it: the job's own process carries it out."""
        job_id = self.scene().submit(ADD)
        self.cluster.pass_time(1.0)
        answer = self.luxi().cancel_job(job_id)
        self.cluster.kill_luxid()
        self.cluster.pass_time(60)
        self.cluster.start_luxid()
        self.assertEqual((answer[0], self.statuses(job_id)), (True, ["canceled"]))
        self.assert_nothing_left(self.cluster)

    def test_undone_is_told(self) -> None:
        """The log of a cancelled creation says what was done and what took it back."""
        job_id = self.scene().submit(ADD)
        self.cluster.pass_time(2.1)
        self.luxi().cancel_job(job_id)
        self.cluster.pass_time(60)
        (op,) = self.job(job_id).ops
        self.assertIn("what had been done was taken back", str(op.result))
        self.assertRegex(op.log[-1][3], "^Canceled before .*; done until then: .*; done to take it back: .*")

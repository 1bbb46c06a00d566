"""Jobs in the queue of a whole cluster: their order, their end, what they may hold."""

from ganeti_tx.errors import OpCodeUnknown
from ganeti_tx.test.inprocess.case import ClusterCase, delay

NODE2 = "node2.example.com"


def set_tags(*tags: str) -> dict[str, object]:
    """The opcode that tags the cluster, which takes the cluster for itself."""
    return {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "name": None, "tags": list(tags), "reason": []}


class CancelTests(ClusterCase):
    """Ending jobs before their end."""

    def test_waiting_for_a_lock(self) -> None:
        """A job that waits for a lock is cancelled at once; the one it waits for goes on."""
        luxi = self.luxi()
        first = luxi.submit_job([delay(50.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        second = luxi.submit_job([{"OP_ID": "OP_NODE_REMOVE", "node_name": NODE2, "reason": []}])
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(first, second), ["running", "waiting"])
        self.assertEqual(luxi.cancel_job(second)[0], True)
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(first, second), ["running", "canceled"])
        self.cluster.pass_time(100)
        self.assertEqual(self.statuses(first), ["success"])

    def test_in_the_queue(self) -> None:
        """A job that waits in the queue never starts once it is cancelled."""
        luxi = self.luxi()
        running = [luxi.submit_job([delay(30.0)]) for _ in range(20)]
        queued = luxi.submit_job([set_tags("never")])
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(queued), ["queued"])
        self.assertEqual(luxi.cancel_job(queued)[0], True)
        self.cluster.pass_time(60)
        self.assertEqual(set(self.statuses(*running)), {"success"})
        self.assertEqual(self.statuses(queued), ["canceled"])
        self.assertEqual(set(self.cluster.config.cluster.tags), set())

    def test_running(self) -> None:
        """A job that waits ends at once; the opcodes after that are not done."""
        luxi = self.luxi()
        job_id = luxi.submit_job([delay(30.0), set_tags("never")])
        self.cluster.pass_time(5)
        self.assertEqual(luxi.cancel_job(job_id)[0], True)
        self.cluster.pass_time(1)
        job = self.job(job_id)
        self.assertEqual([op.status.value for op in job.ops], ["canceled", "canceled"])
        self.assertEqual(set(self.cluster.config.cluster.tags), set())

    def test_killed(self) -> None:
        """A killed job ends at once, and its locks are free for the next."""
        luxi = self.luxi()
        first = luxi.submit_job([delay(5000.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        second = luxi.submit_job([set_tags("next")])
        self.cluster.pass_time(1)
        self.assertEqual(luxi.cancel_job(first, kill=True)[0], True)
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(first, second), ["canceled", "success"])

    def test_process_dies(self) -> None:
        """A job whose process dies is in error, which names the process, and its locks are free."""
        job_id = self.luxi().submit_job([delay(5000.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assertIn(f"process {process_id}", str(self.job(job_id).ops[0].result))

    def test_ended(self) -> None:
        """What has ended cannot be cancelled."""
        luxi = self.luxi()
        job_id = luxi.submit_job([delay(0.0)])
        self.cluster.pass_time(1)
        self.assertEqual(luxi.cancel_job(job_id)[0], False)
        self.assertEqual(luxi.cancel_job(77)[0], False)


class OrderTests(ClusterCase):
    """Which job comes first."""

    def fill(self) -> list[int]:
        """As many jobs as may run at a time."""
        jobs = self.luxi().submit_many_jobs([[delay(30.0)]] * 20)
        return [job_id for _, job_id in jobs]

    def started(self, *job_ids: int) -> list[int]:
        """Jobs in the order in which they were started."""
        return sorted(job_ids, key=lambda job_id: (self.job(job_id).start_timestamp, job_id))

    def test_limit(self) -> None:
        """No more jobs run than the cluster allows; the others follow."""
        self.fill()
        more = [job_id for _, job_id in self.luxi().submit_many_jobs([[delay(1.0)]] * 5)]
        self.cluster.pass_time(10)
        self.assertEqual(set(self.statuses(*more)), {"queued"})
        self.cluster.pass_time(60)
        self.assertEqual(set(self.statuses(*more)), {"success"})

    def test_priority(self) -> None:
        """Of the jobs that wait the urgent start first, then the older."""
        self.fill()
        luxi = self.luxi()
        low, normal, high = (luxi.submit_job([delay(40.0, priority=priority)]) for priority in (10, 0, -10))
        changed = luxi.submit_job([delay(40.0, priority=10)])
        self.assertEqual(luxi.change_job_priority(changed, -20)[0], True)
        self.cluster.pass_time(200)
        self.assertEqual(self.job(changed).ops[0].priority, -20)
        times = [self.job(each).start_timestamp for each in (changed, high, normal, low)]
        self.assertEqual(times, sorted(times, key=lambda at: at or (0, 0)))

    def test_urgent_lock(self) -> None:
        """Of the jobs that wait for a lock the one that became urgent gets it first."""
        luxi = self.luxi()
        luxi.submit_job([delay(30.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        jobs = [luxi.submit_job([{**set_tags(f"tag{number}"), "kind": "node", "name": NODE2}]) for number in range(3)]
        self.cluster.pass_time(1)
        self.assertEqual(set(self.statuses(*jobs)), {"waiting"})
        luxi.change_job_priority(jobs[2], -10)
        self.cluster.pass_time(60)
        self.assertEqual(set(self.statuses(*jobs)), {"success"})
        ends = [self.job(job_id).ops[0].exec_timestamp for job_id in (jobs[2], jobs[0], jobs[1])]
        self.assertEqual(ends, sorted(ends, key=lambda at: at or (0, 0)))

    def test_dependency(self) -> None:
        """A job starts when the one before it has ended as it must; else it is not done."""
        jobs = self.luxi().submit_many_jobs(
            [
                [delay(10.0)],
                [{**set_tags("after"), "depends": [[-1, ["success"]]]}],
                [{**set_tags("never"), "depends": [[-2, ["error"]]]}],
            ]
        )
        ids = [job_id for _, job_id in jobs]
        self.cluster.pass_time(5)
        self.assertEqual(self.statuses(*ids), ["running", "queued", "queued"])
        self.cluster.pass_time(20)
        self.assertEqual(self.statuses(*ids)[:2], ["success", "success"])
        self.assertIn(self.statuses(*ids)[2], ("error", "canceled"))
        self.assertEqual(set(self.cluster.config.cluster.tags), {"after"})

    def test_impossible_dependency(self) -> None:
        """Who depends on what cannot be is refused and the others are not; an archived job can be depended on."""
        luxi = self.luxi()
        old = luxi.submit_job([delay(0.0)])
        self.cluster.pass_time(2)
        self.ok(f"gnt-job archive {old}")
        answers = luxi.submit_many_jobs(
            [[{**delay(0.0), "depends": [[other, ["success"]]]}] for other in (0, 99, -40, -1, old)]
        )
        self.assertEqual([taken for taken, _ in answers], [False, False, False, False, True])
        for (_, reason), words in zip(answers, ("itself", "job 99", "job -40", "job -1", ""), strict=True):
            self.assertIn(words, str(reason))
        self.cluster.pass_time(5)
        self.assertEqual(self.statuses(answers[-1][1]), ["success"])

    def test_canceled_dependency(self) -> None:
        """Who depends on the success of a job that is cancelled is not done."""
        luxi = self.luxi()
        self.fill()
        (_, first), (_, second) = luxi.submit_many_jobs(
            [[delay(1.0)], [{**set_tags("never"), "depends": [[-1, ["success"]]]}]]
        )
        luxi.cancel_job(first)
        self.cluster.pass_time(100)
        self.assertEqual(self.statuses(first)[0], "canceled")
        self.assertIn(self.statuses(second)[0], ("error", "canceled"))
        self.assertEqual(set(self.cluster.config.cluster.tags), set())


class SubmitTests(ClusterCase):
    """What is taken and what is not."""

    def test_many(self) -> None:
        """Of many jobs each is taken or refused by itself, with consecutive ids; what cannot be read spoils all."""
        unbuilt = {"OP_ID": "OP_TEST_DUMMY", "reason": [], "result": 1, "messages": None, "fail": None}
        good, bad = [delay(0.0)], [{**unbuilt, "submit_jobs": None}]
        answers = self.luxi().submit_many_jobs([good, bad, good])
        self.assertEqual([taken for taken, _ in answers], [True, False, True])
        self.assertEqual(answers[2][1], answers[0][1] + 1)
        self.assertIn("OP_TEST_DUMMY", answers[1][1])
        none = [{"OP_ID": "OP_NO_SUCH_THING", "reason": []}]
        self.assertRaises(OpCodeUnknown, self.luxi().submit_many_jobs, [good, none])
        self.assertEqual(self.luxi().submit_job(good), answers[2][1] + 1)

    def test_fails_in_the_middle(self) -> None:
        """When an opcode fails, those after it are not done and say why."""
        remove = {"OP_ID": "OP_INSTANCE_REMOVE", "instance_name": "nothing", "reason": []}
        job_id = self.luxi().submit_job([set_tags("before"), remove, set_tags("after")])
        self.cluster.pass_time(5)
        self.assertEqual([op.status.value for op in self.job(job_id).ops], ["success", "error", "error"])
        self.assertIn("preceding opcode failed", str(self.job(job_id).ops[2].result))
        self.assertEqual(set(self.cluster.config.cluster.tags), {"before"})

    def test_disk_is_full(self) -> None:
        """A job that cannot be stored is refused, and its id is not told."""
        queue = self.cluster.paths.queue_dir
        self.cluster.master.disk.fault = lambda operation, path: (
            OSError(28, "No space left on device", str(path))
            if operation.startswith("write") and path.parent == queue
            else None
        )
        self.fails("gnt-cluster add-tags web", "No space left on device")
        self.cluster.master.disk.fault = None
        self.ok("gnt-cluster add-tags web")

    def test_secret_is_not_stored(self) -> None:
        """A secret OS parameter reaches the script and no file of any node."""
        line = "gnt-instance add -t file -s 1G -o noop --os-parameters-secret flavour=hushhush -n node2 web1"
        self.ok(line)
        (call,) = [call for call in self.cluster.node(2).scripts.calls if call.argv[0].endswith("/create")]
        self.assertEqual(call.env["OSP_FLAVOUR"], "hushhush")
        for node in self.cluster.nodes.values():
            for path in node.disk.find(b"hushhush"):
                self.fail(f"{path} on {node.name} holds the secret")

    def test_archive(self) -> None:
        """Archived jobs are gone from every queue, and are found by their ids."""
        self.ok("gnt-cluster add-tags web")
        self.ok("gnt-job archive 1")
        self.cluster.pass_time(1)
        for node in self.cluster.members:
            self.assertFalse(node.disk.exists(self.cluster.paths.job_file(1)), node.name)
            self.assertTrue(node.disk.exists(self.cluster.paths.archived_job_file(1)), node.name)
        self.assertEqual(self.ok("gnt-job list --no-headers -o id,status").split(), [])
        self.assertEqual(self.ok("gnt-job list --no-headers -o id,status 1").split(), ["1", "success"])

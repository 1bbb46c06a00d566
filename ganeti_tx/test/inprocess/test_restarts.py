"""Daemons that end and come back while jobs run: no job is lost, no lock is lost, nothing is done twice."""

from ganeti_tx.test.inprocess.case import ClusterCase, delay

ADD = "gnt-instance add --submit -t file -s 1G -o noop -n node2 web1"
NODE2 = "node2.example.com"


class LuxidTests(ClusterCase):
    """luxid goes and comes back."""

    def test_running_job_goes_on(self) -> None:
        """A job runs to its end while luxid is away, and the new luxid knows how it went."""
        job_id = self.scene().submit(ADD)
        self.cluster.pass_time(1)
        self.cluster.kill_luxid()
        self.cluster.pass_time(30)
        self.assertEqual(self.cluster.running(), {NODE2: ["web1.example.com"]})
        self.cluster.start_luxid()
        self.cluster.pass_time(10)
        self.assertEqual(self.scene().field("job", str(job_id), "status"), "success")

    def test_new_luxid_follows(self) -> None:
        """A luxid that comes back in mid-job tells of the job's steps and of its end."""
        job_id = self.scene().submit(ADD)
        self.cluster.pass_time(1)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assertEqual(self.scene().field("job", str(job_id), "status"), "running")
        self.assertIn("* starting instance", self.ok(f"gnt-job watch {job_id}"))
        self.assertEqual(self.scene().field("job", str(job_id), "status"), "success")

    def test_new_luxid_cancels(self) -> None:
        """A luxid that comes back can kill a job that an earlier one started."""
        job_id = self.luxi().submit_job([delay(5000.0)])
        self.cluster.pass_time(1)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.cluster.pass_time(2)
        self.assertEqual(self.luxi().cancel_job(job_id, kill=True)[0], True)
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["canceled"])

    def test_queued_jobs_wait_on(self) -> None:
        """Jobs that had not started are started by the next luxid, each once."""
        jobs = [job_id for _, job_id in self.luxi().submit_many_jobs([[delay(20.0)]] * 25)]
        self.cluster.pass_time(1)
        self.cluster.kill_luxid()
        self.cluster.pass_time(5)
        self.cluster.start_luxid()
        self.cluster.pass_time(100)
        self.assertEqual(set(self.statuses(*jobs)), {"success"})

    def test_job_that_died_meanwhile(self) -> None:
        """A job whose process died while luxid was away is in error; its locks are free."""
        job_id = self.luxi().submit_job([delay(5000.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        self.cluster.kill_luxid()
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.start_luxid()
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["error"])

    def test_killed_at_every_moment(self) -> None:
        """Whenever luxid dies after it has told a job's id, the job is done in the end, and once."""
        for hundredths in range(30):
            cluster = self.cluster = self.new_cluster()
            job_id = self.scene().submit("gnt-cluster add-tags --submit web")
            cluster.pass_time(hundredths / 400)
            cluster.kill_luxid()
            cluster.pass_time(0.3)
            cluster.start_luxid()
            cluster.pass_time(60)
            self.assertEqual(self.statuses(job_id), ["success"], f"killed after {hundredths / 400} s")
            self.assertEqual(set(cluster.config.cluster.tags), {"web"})
            self.assert_nothing_held(cluster)
            cluster.end()

    def test_command_waits(self) -> None:
        """A command that follows a job goes on when luxid is back."""
        self.cluster.time.callLater(1, self.cluster.kill_luxid)
        self.cluster.time.callLater(2, self.cluster.acting.start_luxid_later)
        out = self.ok(ADD.replace("--submit ", ""))
        self.assertIn("* starting instance", out)
        self.assertEqual(self.cluster.running(), {NODE2: ["web1.example.com"]})


class WconfdTests(ClusterCase):
    """WConfD goes and comes back."""

    def restart(self, away: float = 1.0) -> None:
        """Kill it and start it again."""
        self.cluster.kill_wconfd()
        self.cluster.pass_time(away)
        self.cluster.start_wconfd()

    def test_held_locks_stay(self) -> None:
        """A lock that a job holds is still held after a restart, and is free when the job ends."""
        luxi = self.luxi()
        first = luxi.submit_job([delay(30.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        self.restart()
        second = luxi.submit_job([{"OP_ID": "OP_NODE_REMOVE", "node_name": NODE2, "reason": []}])
        self.cluster.pass_time(5)
        self.assertEqual(self.statuses(first, second), ["running", "waiting"])
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(first, second), ["success", "success"])

    def test_waiting_job_waits_on(self) -> None:
        """A job that waits for a lock asks again and gets it."""
        luxi = self.luxi()
        first = luxi.submit_job([delay(30.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        second = luxi.submit_job([{"OP_ID": "OP_NODE_REMOVE", "node_name": NODE2, "reason": []}])
        self.cluster.pass_time(1)
        self.restart()
        self.cluster.pass_time(100)
        self.assertEqual(self.statuses(first, second), ["success", "success"])

    def test_creation_goes_on(self) -> None:
        """A creation during which WConfD is away for a while succeeds."""
        job_id = self.scene().submit(ADD)
        self.cluster.pass_time(1)
        self.restart(20.0)
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assertEqual(self.cluster.running(), {NODE2: ["web1.example.com"]})

    def test_killed_at_every_moment(self) -> None:
        """Whenever WConfD dies during a creation, all of the instance is there in the end, or nothing."""
        outcomes = set()
        moments = [step * 0.004 for step in range(16)] + [2 + step * 0.004 for step in range(12)] + [4.03, 4.04, 4.05]
        for moment in moments:
            cluster = self.cluster = self.new_cluster()
            job_id = self.scene().submit(ADD)
            cluster.pass_time(moment)
            self.restart(0.5)
            cluster.pass_time(100)
            (status,) = self.statuses(job_id)
            outcomes.add(status)
            where = f"killed after {moment:g} s: {status} {self.job(job_id).ops[0].result}"
            self.assertNotIn("internal error", where)
            if status == "success":
                self.assertEqual(cluster.running(), {NODE2: ["web1.example.com"]}, where)
            else:
                self.assertEqual((status, cluster.running(), cluster.disks()), ("error", {}, {}), where)
                self.assertEqual(dict(cluster.config.instances), {}, where)
            self.assert_nothing_held(cluster)
            cluster.end()
        self.assertIn("success", outcomes)


class RunnerTests(ClusterCase):
    """The process of a job dies."""

    def test_killed_at_every_moment(self) -> None:
        """Whenever it dies, its locks and reservations are free, and the name can be used again after a removal."""
        for moment in [step * 0.005 for step in range(12)] + [2 + step * 0.01 for step in range(10)]:
            cluster = self.cluster = self.new_cluster()
            job_id = self.scene().submit(ADD)
            cluster.pass_time(moment)
            for process_id in list(cluster.zygote.runners):
                cluster.zygote.kill(process_id)
            cluster.pass_time(100)
            (status,) = self.statuses(job_id)
            self.assertIn(status, ("success", "error"), f"killed after {moment:g} s")
            self.assert_nothing_held(cluster)
            if cluster.config.instances:
                self.ok("gnt-instance remove -f web1")
            self.ok(ADD.replace("--submit ", ""))
            cluster.end()


class ReleaseTests(ClusterCase):
    """What has been given back stays given back."""

    def test_released_before_wconfd_died(self) -> None:
        """Whenever WConfD dies about the end of a job, the next WConfD does not find the job's locks held."""
        for step in range(60):
            cluster = self.cluster = self.new_cluster()
            job_id = self.luxi().submit_job([delay(0.0, on_nodes=[NODE2], no_locks=False)])
            cluster.pass_time(0.02 + step * 0.0005)
            cluster.kill_wconfd()
            cluster.start_wconfd()
            cluster.pass_time(100)
            self.assertEqual(self.statuses(job_id), ["success"], f"step {step}")
            self.assert_nothing_held(cluster)
            cluster.end()

"""Job filters of a whole cluster, from the command line to the jobs."""

import json

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.commands import Commands

NEW = json.dumps([["jobid", [">", "id", "watermark"]]])
DELAYS = json.dumps([["opcode", ["==", "OP_ID", "OP_TEST_DELAY"]]])


class FilterTests(ClusterCase):
    """Rules that a user makes, and what they do."""

    def add(self, action: str, predicates: str = DELAYS, priority: int = 0) -> str:
        """Add a rule; its uuid."""
        options = [f"--priority={priority}", f"--predicates={predicates}", f"--action={action}"]
        status, out, err = Commands(self.cluster)(["gnt-filter", "add", *options])
        self.assertEqual((status, err), (0, ""))
        return out.strip()

    def test_life_of_a_rule(self) -> None:
        """Added, listed, replaced and deleted; a job waits as long as the rule says."""
        uuid = self.add("PAUSE", NEW)
        listed = self.ok("gnt-filter list --no-headers --separator=| -o uuid,priority,predicates,action")
        self.assertEqual(listed.strip(), f"{uuid}|0|{json.loads(NEW)}|PAUSE")
        self.assertEqual(set(self.cluster.config.filters), {uuid})
        job_id = self.luxi().submit_job([delay(1.0)])
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id), ["queued"])
        self.ok(f"gnt-filter replace --action=ACCEPT {uuid}")
        self.assertIn("Action: ACCEPT", self.ok(f"gnt-filter info {uuid}"))
        self.cluster.pass_time(10)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.ok(f"gnt-filter delete {uuid}")
        self.assertEqual(self.ok("gnt-filter list --no-headers"), "")
        self.fails(f"gnt-filter delete {uuid}", "not known")

    def test_watermark(self) -> None:
        """A rule remembers the newest job that there was when it was made; earlier jobs are not new to it."""
        luxi = self.luxi()
        early = luxi.submit_job([delay(1.0)])
        self.add("PAUSE", NEW)
        late = luxi.submit_job([delay(1.0)])
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(early, late), ["success", "queued"])
        (rule,) = self.cluster.config.filters.values()
        self.assertEqual(rule.watermark, early)

    def test_reject(self) -> None:
        """A rejected job is cancelled, and whoever waits for it is told by which rule and why."""
        uuid = self.ok("gnt-filter add --action=REJECT --reason=holidays").strip()
        told = self.fails("gnt-cluster verify", f"rejected by filter rule {uuid}: holidays")
        self.assertIn("canceled", told)
        luxi = self.luxi()
        job_id = luxi.submit_job([delay(1.0)])
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(job_id), ["canceled"])

    def test_rate_limit(self) -> None:
        """So many at a time."""
        self.add("RATE_LIMIT 2")
        luxi = self.luxi()
        jobs = [luxi.submit_job([delay(10.0)]) for _ in range(5)]
        self.cluster.pass_time(5)
        self.assertEqual(self.statuses(*jobs), ["running"] * 2 + ["queued"] * 3)
        self.cluster.pass_time(10)
        self.assertEqual(self.statuses(*jobs), ["success"] * 2 + ["running"] * 2 + ["queued"])
        self.cluster.pass_time(20)
        self.assertEqual(self.statuses(*jobs), ["success"] * 5)

    def test_rate_limit_by_reason(self) -> None:
        """The jobs that are given the very same reason limit themselves."""
        luxi = self.luxi()
        reason = [["gnt:user", "rate-limit:1:slowly", 1]]
        jobs = [luxi.submit_job([delay(10.0) | {"reason": reason}]) for _ in range(3)]
        other = luxi.submit_job([delay(10.0)])
        self.cluster.pass_time(5)
        self.assertEqual(self.statuses(*jobs, other), ["running", "queued", "queued", "running"])
        self.cluster.pass_time(40)
        self.assertEqual(self.statuses(*jobs), ["success"] * 3)

    def test_restart(self) -> None:
        """Rules and their effect survive the restart of both daemons, and running jobs take their room."""
        self.add("RATE_LIMIT 1", priority=1)
        self.add("PAUSE", json.dumps([["priority", [">", "priority", 0]]]), priority=0)
        luxi = self.luxi()
        first, second = (luxi.submit_job([delay(100.0)]) for _ in range(2))
        low = luxi.submit_job([delay(1.0, priority=10)])
        self.cluster.pass_time(5)
        self.cluster.kill_luxid()
        self.cluster.kill_wconfd()
        self.cluster.start_wconfd()
        self.cluster.start_luxid()
        self.cluster.pass_time(10)
        self.assertEqual(self.statuses(first, second), ["running", "queued"])
        self.cluster.pass_time(120)
        self.assertEqual(self.statuses(first, second, low), ["success", "running", "queued"])
        self.cluster.pass_time(120)
        self.assertEqual(self.statuses(low), ["queued"])

    def test_mistakes(self) -> None:
        """One line that says what is wrong; nothing is changed."""
        self.fails('gnt-filter add --predicates=[["jobid",[">","number",1]]]', r"predicates\[0\] \(jobid\)")
        self.fails("gnt-filter replace --action=PAUSE not-a-uuid", "invalid uuid 'not-a-uuid'")
        self.assertRaises(OpPrereqError, self.luxi().replace_filter, None, 0, [], "RATE_LIMIT", [])
        self.assertEqual(dict(self.cluster.config.filters), {})

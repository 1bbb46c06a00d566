"""Random walks: what operators and faults do, from a seed that repeats it exactly."""

import re
from collections.abc import Callable
from random import Random

from attrs import define, field

from ganeti_tx.queue.job import FINAL, decode_job
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.test.inprocess.case import ClusterCase, scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.network import Says, Trouble

STEPS = 40
TEMPLATES = ("file", "sharedfile", "diskless")


@define
class Walk:
    """Steps of one walk; `submitted` holds the jobs that somebody was promised."""

    cluster: InProcessCluster
    chance: Random
    submitted: list[int] = field(factory=list)
    history: list[str] = field(factory=list)

    def step(self) -> None:
        """Do one thing, and let some time pass."""
        things: list[Callable[[], None]] = [
            *[self.create] * 5, *[self.power] * 4, *[self.remove] * 2, self.tag, self.node, self.cancel,
            self.kill_luxid, self.kill_wconfd, self.restart_noded, self.trouble, self.calm,
        ]  # fmt: skip
        self.chance.choice(things)()
        self.cluster.pass_time(self.chance.choice([0.001, 0.01, 0.1, 1, 3]))

    def submit(self, line: str) -> None:
        """Submit the job of a command."""
        program, verb, rest = line.split(" ", 2)
        words = f"{program} {verb} --submit {rest}"
        self.history.append(f"{self.cluster.time.seconds():.3f} {words}")
        _, out, err = scene_of(self.cluster).run(words.split())
        if "Traceback" in out + err or "nternal error" in out + err:
            raise AssertionError(f"{words}: {out}{err}")
        self.submitted.extend(int(each) for each in re.findall(r"^(?:JobID: (?=\d+$)|(?=\d+: ))(\d+)", out + err, re.M))

    def name(self) -> str:
        """One of a few, so that they meet."""
        return f"web{self.chance.randint(1, 4)}"

    def create(self) -> None:
        """Make an instance."""
        template = self.chance.choice(TEMPLATES)
        disk = "" if template == "diskless" else "-s 1G"
        self.submit(f"gnt-instance add -t {template} {disk} -o noop -n node{self.chance.randint(1, 3)} {self.name()}")

    def power(self) -> None:
        """Start, stop or restart one."""
        self.submit(f"gnt-instance {self.chance.choice(['startup', 'shutdown', 'reboot'])} {self.name()}")

    def remove(self) -> None:
        """Remove one."""
        self.submit(f"gnt-instance remove -f {self.name()}")

    def tag(self) -> None:
        """Tag the cluster."""
        self.submit(f"gnt-cluster add-tags tag{self.chance.randint(1, 3)}")

    def node(self) -> None:
        """Keep a node's lock for a while."""
        self.submit(f"gnt-debug delay -n node{self.chance.randint(1, 3)} 2")

    def cancel(self) -> None:
        """Cancel a job."""
        if self.submitted:
            job_id = self.chance.choice(self.submitted)
            self.history.append(f"cancel {job_id}")
            scene_of(self.cluster).run(["gnt-job", "cancel", str(job_id)])

    def kill_luxid(self) -> None:
        """Restart luxid the hard way."""
        self.history.append("luxid")
        self.cluster.kill_luxid()
        self.cluster.pass_time(self.chance.choice([0, 0.1, 1]))
        self.cluster.start_luxid()

    def kill_wconfd(self) -> None:
        """Restart WConfD the hard way."""
        self.history.append("wconfd")
        self.cluster.kill_wconfd()
        self.cluster.pass_time(self.chance.choice([0, 0.1, 1]))
        self.cluster.start_wconfd()

    def restart_noded(self) -> None:
        """Restart a node daemon the hard way."""
        node = self.cluster.node(self.chance.randint(1, 3))
        self.history.append(f"noded of {node.name}")
        node.stop()
        self.cluster.pass_time(self.chance.choice([0, 0.1, 1]))
        node.start()

    def trouble(self) -> None:
        """From now on some calls go wrong."""
        self.history.append("trouble")
        rare = self.chance.choice([0.02, 0.1])
        kinds: list[Trouble | Says] = [Trouble.REFUSED, Trouble.ANSWER_LOST, Trouble.LOST, Says("bad luck")]

        def fault(node: str, call: NodeCall[object]) -> Trouble | Says | None:
            if self.chance.random() >= rare:
                return None
            return self.chance.choice(kinds)

        self.cluster.network.fault = fault

    def calm(self) -> None:
        """No call goes wrong any more."""
        self.history.append("calm")
        self.cluster.network.fault = None


class WalkTests(ClusterCase):
    """Whatever happens: every job ends, nothing stays locked, and the configuration is sound."""

    def walk(self, seed: int) -> None:
        """One walk, and what must be true after it."""
        cluster = self.cluster = self.new_cluster(seed)
        walk = Walk(cluster, Random(seed))
        try:
            for _ in range(STEPS):
                walk.step()
            walk.calm()
            cluster.pass_time(2 * 86400)
            self.check(cluster, walk)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n" + "\n".join(walk.history))
        cluster.end()

    def check(self, cluster: InProcessCluster, walk: Walk) -> None:
        """The invariants."""
        for job_id in walk.submitted:
            live, archived = cluster.paths.job_file(job_id), cluster.paths.archived_job_file(job_id)
            path = live if cluster.master.disk.exists(live) else archived  # old ones are archived by themselves
            job = decode_job(cluster.master.disk.read(path, 1 << 20))
            self.assertIn(job.status, FINAL, f"job {job_id}")
            self.assertIsNotNone(job.end_timestamp, f"job {job_id}")
            self.assertNotIn("internal error", str([op.result for op in job.ops]), f"job {job_id}")
        self.assert_nothing_held(cluster)
        scene_of(cluster).ok("gnt-cluster verify")
        names = {instance.name for instance in cluster.config.instances.values()}
        running = [name for names in cluster.running().values() for name in names]
        self.assertEqual(len(running), len(set(running)), "an instance runs twice")
        self.assertEqual(set(running) - names, set(), "something runs that is not configured")
        for name in sorted(names):  # also one whose removal failed half-way
            scene_of(cluster).ok(f"gnt-instance remove -f {name}")
        self.assertEqual(cluster.running(), {})

    def test_walks(self) -> None:
        """Some walks; each seed is another."""
        for seed in range(12):
            self.walk(seed)

"""Either node of a migration loses its power at each of its calls: at no time does the instance run in two places."""

import json
from random import Random

from ganeti_tx.model.migration import Side
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation

NAME = "web1.example.com"
ADD = "gnt-instance add -t sharedfile -s 1G -o noop -n node2 web1"
MIGRATE = Operation("gnt-instance migrate -f -n node3 web1", (ADD,))
FAILOVER = Operation("gnt-instance failover -f -n node3 web1", (ADD,))
#: Seconds: longer than undos of nodes that do not answer are tried, and calls take.
LONG = 4000.0


def sides(cluster: InProcessCluster) -> dict[str, Side]:
    """What each node has of the instance."""
    found = {}
    for node in cluster.nodes.values():
        path = node.paths.run_dir / "fake-hypervisor" / NAME
        if node.disk.exists(path):
            found[node.name] = Side(json.loads(node.disk.read(path, 1 << 20)).get("side", Side.RUNS.value))
    return found


class DeathTests(EachCallCase):
    """The power of a node is cut, and comes back when all have given up."""

    def check_deaths(self, operation: Operation, number: int) -> None:
        """At each call in turn."""
        for call, name in enumerate(self.calls_of_a_good_run(operation)):
            cluster = self.prepared(operation)
            job_id = scene_of(cluster).submit(operation.submitted())
            self.until_called(cluster, job_id, call)
            if self.job(job_id).finalized:
                continue
            node = cluster.node(number)
            cluster.lose_power(node, Random(1))
            self.watch(cluster, LONG)
            where = f"{operation.line}: node{number} dies at call {call}, {name}: {self.job(job_id).ops[0].result}"
            self.assertTrue(self.job(job_id).finalized, where)
            node.boot()
            self.watch(cluster, 60)
            self.repair(cluster, where)
            cluster.end()

    def watch(self, cluster: InProcessCluster, seconds: float) -> None:
        """Let time pass; it never runs twice."""
        for _ in range(40):
            cluster.pass_time(seconds / 40)
            self.assertLessEqual(list(sides(cluster).values()).count(Side.RUNS), 1, sides(cluster))

    def repair(self, cluster: InProcessCluster, where: str) -> None:
        """What is left can be put right by what the error names, and starting it where it is said to be."""
        status, out, err = self.scene().run(["gnt-instance", "migrate", "-f", "--cleanup", "web1"])
        if status != 0:
            self.assertIn("does not", err, where)
            self.ok("gnt-instance startup web1")
        where = f"{where}; cleaned up: {out}{err}"
        self.assertEqual(disagreements(cluster), [], where)
        self.assertEqual(list(sides(cluster).values()), [Side.RUNS], where)

    def test_source_migrate(self) -> None:
        """The node where it is."""
        self.check_deaths(MIGRATE, 2)

    def test_target_migrate(self) -> None:
        """The node where it is going."""
        self.check_deaths(MIGRATE, 3)

    def test_source_failover(self) -> None:
        """The node where it is."""
        self.check_deaths(FAILOVER, 2)

    def test_target_failover(self) -> None:
        """The node where it is going."""
        self.check_deaths(FAILOVER, 3)

    def test_other_group(self) -> None:
        """What runs in another group is not taken for gone; it is cleaned up when its node is given."""
        cluster = self.prepared(MIGRATE)
        for line in ("gnt-group add rack2", "gnt-group assign-nodes --force rack2 node3"):
            self.ok(line)
        source, target = cluster.node(2), cluster.node(3)
        path = source.paths.run_dir / "fake-hypervisor" / NAME
        state = json.loads(source.disk.read(path, 1 << 20))
        put(target.disk, target.paths.run_dir / "fake-hypervisor" / NAME, json.dumps(state).encode())
        put(source.disk, path, json.dumps({**state, "side": Side.SENT.value}).encode())
        before = sides(cluster)
        self.fails(
            "gnt-instance migrate -f --cleanup web1",
            "on node node3.example.com, which is in another group .*migrate --cleanup -n node3.example.com web1",
        )
        self.assertEqual(sides(cluster), before)
        self.ok("gnt-instance migrate -f --cleanup -n node3 web1")
        self.assertEqual(sides(cluster), {target.name: Side.RUNS})
        self.assertEqual(disagreements(cluster), [])

    def test_left_over(self) -> None:
        """What a migration has left is not taken for an instance that runs when it is started."""
        self.prepared(MIGRATE)
        node = self.cluster.node(2)
        path = node.paths.run_dir / "fake-hypervisor" / NAME
        state = json.loads(node.disk.read(path, 1 << 20))
        put(node.disk, path, json.dumps({**state, "side": Side.SENT.value}).encode())
        self.fails("gnt-instance startup web1", "a migration that was cut off .*migrate --cleanup")
        self.fails("gnt-instance migrate -f --cleanup web1", "does not run any more")
        self.ok("gnt-instance startup web1")
        self.assertEqual(disagreements(self.cluster), [])

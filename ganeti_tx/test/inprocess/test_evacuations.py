"""Instances leave nodes and groups in a whole cluster, for where Debian's hail finds room."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import SAYS_NO, EachCallCase, Operation
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.network import Trouble
from ganeti_tx.test.inprocess.test_rapi import RapiCase

ADD = "gnt-instance add -t sharedfile -s 1G -o noop --no-name-check --no-ip-check"
TWO_GROUPS = (
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    "gnt-group add rack2",
    "gnt-group assign-nodes rack2 node3",
    f"{ADD} -n node1 web1",
    f"{ADD} -n node1 --no-start web2",
)


class EvacuationTests(ClusterCase):
    """Two nodes in one group, one in another; web1 runs on the first, where web2 is, too."""

    def setUp(self) -> None:
        super().setUp()
        install_hail(self.cluster)
        for line in TWO_GROUPS:
            self.ok(line)

    def places(self) -> dict[str, str]:
        """Which instance is where."""
        lines = self.ok("gnt-instance list --no-headers -o name,pnode").splitlines()
        return {name: node.split(".")[0] for name, node in map(str.split, lines)}

    def test_group_by_failover(self) -> None:
        """All of a group come to another one, one after the other; what ran runs."""
        said = self.ok("gnt-group evacuate --force-failover --sequential --to rack2 default")
        self.assertIn("- INFO: Iallocator returned 2 job(s) for evacuating node group default", said)
        self.assertRegex(said, r"Submitted jobs \d+, \d+\nWaiting for job")
        self.assertTrue(said.endswith("All instances evacuated successfully.\n"), said)
        self.assertEqual(self.places(), {"web1": "node3", "web2": "node3"})
        self.assertEqual(
            {name: set(each) for name, each in self.cluster.running().items()}["node3.example.com"], {"web1"}
        )

    def test_migrated(self) -> None:
        """Of a node, and to another group."""
        said = self.ok("gnt-node evacuate -f -p node1")
        self.assertIn("- INFO: Evacuating instances from node 'node1.example.com': web1, web2\n", said)
        self.assertTrue(said.endswith("All instances evacuated successfully.\n"), said)
        self.assertEqual(self.places(), {"web1": "node2", "web2": "node2"})
        said = self.ok("gnt-instance change-group --to rack2 web1")
        self.assertTrue(said.endswith("Instance 'web1' changed group successfully.\n"), said)
        self.ok("gnt-instance change-group web1")
        self.assertNotEqual(self.places()["web1"], "node3")

    def test_nothing_to_do(self) -> None:
        """A node without instances, or one that is not there, has none to evacuate, whatever is asked."""
        for words in ("-f -p node3", "-f -s node1", "-f -p nosuch"):
            status, out, err = self.scene().run(f"gnt-node evacuate {words}".split())
            self.assertEqual(
                (status, out, err), (0, "", f"No instances to evacuate on node(s) {words.split()[-1]}, exiting.\n")
            )
        for which in ([], ["-s"], ["-p"]):
            err = self.scene().run(["gnt-node", "evacuate", "-f", *which, "-n", "node2", "node1"])[2]
            self.assertIn(
                "New secondary node given (disabling iallocator), hence evacuating secondary instances only.\nNo ", err
            )

    def test_refused(self) -> None:
        """Nothing is changed, and no job submitted."""
        before = self.cluster.config
        for line, reason in (
            ("gnt-node evacuate -f node1", "it is not possible to evacuate all instances at once; specify explicitly"),
            ("gnt-node evacuate -f -p -s node1", "Only one of the --primary-only and --secondary-only options"),
            ("gnt-node evacuate -f -p -I nosuch node1", "iallocator module 'nosuch' not found in the search path"),
            ("gnt-instance change-group --to default web1", "are used by the instance 'web1'"),
            ("gnt-instance change-group --to nosuch web1", "unknown_entity"),
            ("gnt-instance change-group nosuch", "unknown_entity"),
            ("gnt-instance change-group --cleanup web1", "web1 is in group default only; there is nothing to clean up"),
            ("gnt-instance change-group --cleanup --to rack2 web1", "leave out --to"),
        ):
            self.fails(line, reason)
        self.assertEqual(self.cluster.config, before)

    def test_unmovable(self) -> None:
        """What cannot go keeps the others there, too."""
        self.ok(f"{ADD.replace('sharedfile', 'file')} --no-start -n node1 web3")
        said = self.fails("gnt-group evacuate --to rack2 default", "Unable to evacuate instances web3")
        self.assertIn("Instances of type file cannot be relocated", said)
        self.assertEqual(set(self.places().values()), {"node1"})


class RemoteTests(RapiCase):
    """By the Remote API."""

    def test_node(self) -> None:
        """The job's result are the jobs; they are followed like any others."""
        install_hail(self.cluster)
        for line in TWO_GROUPS:
            self.ok(line)
        body = {"mode": "primary-only", "iallocator": "hail", "early_release": True}
        [result] = self.done("POST", "/2/nodes/node1.example.com/evacuate", body)
        self.assertEqual([taken for taken, _job_id in result["jobs"]], [True, True])
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(*(job_id for _taken, job_id in result["jobs"])), ["success", "success"])
        self.assertEqual(self.send("GET", "/2/instances/web1")["pnode"], "node2.example.com")
        self.assertEqual(self.done("POST", "/2/nodes/node1.example.com/evacuate", body), [{"jobs": []}])


class EachCallTests(EachCallCase):
    """The job that finds the jobs: whatever goes wrong in it, nothing has happened, or all its jobs are there."""

    of_group = Operation(
        "gnt-group evacuate --force-failover --to rack2 default",
        before=TWO_GROUPS[:-1],
        done=lambda cluster: is_on(cluster, "node3"),
    )
    of_node = Operation(
        "gnt-node evacuate -f -p node1", before=TWO_GROUPS[:-1], done=lambda cluster: is_on(cluster, "node2")
    )
    of_instance = Operation(
        "gnt-instance change-group --to rack2 web1",
        before=TWO_GROUPS[:-1],
        done=lambda cluster: is_on(cluster, "node3"),
    )
    operations = (of_group, of_node, of_instance)

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """With hail."""
        cluster = super().new_cluster(seed)
        install_hail(cluster)
        return cluster

    def test_troubles(self) -> None:
        """Each call goes wrong in turn."""
        for operation in self.operations:
            self.check_troubles(operation, (SAYS_NO, Trouble.ANSWER_LOST))

    def test_killed(self) -> None:
        """The job's process ends at each call."""
        for operation in self.operations:
            self.check_ended(operation, self.kill)

    def test_cancelled(self) -> None:
        """The operator stops it at each."""
        for operation in self.operations:
            self.check_ended(operation, self.cancel)


def is_on(cluster: InProcessCluster, node: str) -> bool:
    """Whether all instances have this primary node."""
    config = cluster.config
    return all(config.nodes[each.primary_node].name.startswith(f"{node}.") for each in config.instances.values())

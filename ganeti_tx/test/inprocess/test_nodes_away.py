"""Nodes that are not there: one that is marked offline is left out of everything, one that does not answer is named."""

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

ADD = "gnt-instance add -H fake -o noop --no-name-check --no-ip-check --ignore-ipolicy"
BEFORE = (f"{ADD} -t drbd -s 1G -n node2:node3 web1", f"{ADD} -t file -s 1G -n node2 web2", "gnt-group add rack2")
#: What concerns all nodes, or this one besides others.
ALL = (
    "gnt-cluster verify", "gnt-cluster verify-disks", "gnt-cluster modify -B vcpus=2", "gnt-cluster redist-conf",
    "gnt-cluster repair-disk-sizes", "gnt-cluster add-tags x", "gnt-cluster watcher pause 1h", "gnt-cluster watcher continue",
    "gnt-os diagnose", "gnt-node list", "gnt-node volumes", "gnt-node list-storage -t file", "gnt-node add-tags node3 t",
    "gnt-debug delay -n node2 -n node3 1", "gnt-group assign-nodes --force rack2 node3",
    "gnt-group assign-nodes --force default node3",
    "gnt-network add --network=10.7.0.0/30 lan", "gnt-network connect -N mode=routed,link=1 lan", "gnt-instance list",
    "gnt-instance info web1", "gnt-instance shutdown web1", "gnt-instance startup web1", "gnt-instance modify -B vcpus=1 web1",
    "gnt-instance reboot web1", "gnt-instance grow-disk web1 0 1g", "gnt-instance migrate -f web1",
    "gnt-instance failover -f web1", "gnt-instance replace-disks -p web1", "gnt-instance activate-disks web1",
    f"{ADD} -t file -s 1G -n node3 web3", "gnt-node evacuate -f -n node4 node3", "gnt-node modify -D yes --auto-promote node3",
    "gnt-node restricted-command any node2 node3", "gnt-node add node5", "gnt-instance remove -f --shutdown-timeout=0 web1",
    "gnt-node remove node3",
)  # fmt: skip
#: Those that ask whether it is back.
COMING_BACK = frozenset({"gnt-node modify -D yes --auto-promote node3"})


class NodesAwayTests(ClusterCase):
    """Four nodes, of which the third one's daemon ends."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, _wire = mirrored_cluster(4, seed)
        self.addCleanup(cluster.end)
        return cluster

    def prepare(self) -> None:
        """The instances, and the death of the daemon."""
        for line in BEFORE:
            self.ok(line)
        self.sent: list[str] = []
        self.cluster.network.fault = self.note
        self.cluster.node(3).stop()

    def note(self, node: str, call: NodeCall[object]) -> None:
        """Nothing goes wrong besides."""
        if node == "node3.example.com":
            self.sent.append(call.name)

    def said(self, line: str) -> tuple[int, str]:
        """How a command ended, and all that it said."""
        status, out, err = self.scene().run(line.split())
        self.assertNotIn("Traceback", out + err, line)
        return status, out + err

    def test_offline(self) -> None:
        """Nothing is sent to it, by no command and by nothing that goes on meanwhile, but to ask whether it is back."""
        self.prepare()
        self.ok("gnt-node modify -f -O yes --auto-promote node3")
        self.cluster.pass_time(60)
        for line in ALL:
            self.sent.clear()
            status, text = self.said(line)
            self.cluster.pass_time(1)
            self.assertEqual(self.sent, ["version"] if line in COMING_BACK else [], line)
            if status != 0:
                self.assertIn("node3.example.com", text, line)

    def test_does_not_answer(self) -> None:
        """What fails because of it, and what was sent to it and does not fail, names it."""
        self.prepare()
        failed = set()
        for line in ALL:
            self.cluster.pass_time(60)
            status, text = self.said(line)
            if status != 0:
                self.assertIn("node3", text, line)
                failed.add(line)
        self.assertGreater(len(failed), 5)
        self.assertFalse(
            failed & {"gnt-os diagnose", "gnt-cluster redist-conf", "gnt-node add node5", "gnt-node remove node3"}
        )

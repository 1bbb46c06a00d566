"""`gnt-cluster verify` and `verify-disks` in a whole cluster: their jobs, options and hooks."""

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says, Wrong
from ganeti_tx.test.inprocess.simulation import SimulatedTime
from ganeti_tx.test.inprocess.verify_faults.fault import ADD, cluster_with, mirrored
from ganeti_tx.test.inprocess.verify_faults.of_instances import runs
from ganeti_tx.test.inprocess.verify_faults.of_nodes import failing_hook

#: What Ganeti's own prints of a healthy group, in its order.
OF_CONFIGURATION = (
    "Verifying cluster config",
    "Verifying cluster certificate files",
    "Verifying hypervisor parameters",
    "Verifying all nodes belong to an existing group",
)
OF_GROUP = (
    "Verifying group '{}'",
    "Gathering data ({} nodes)",
    "Gathering information about nodes ({} nodes)",
    "Gathering disk information ({} nodes)",
    "Verifying configuration file consistency",
    "Verifying node status",
    "Verifying instance status",
    "Verifying orphan volumes",
    "Verifying N+1 Memory redundancy",
    "Other Notes",
    "Hooks Results",
)


#: The codes of all checks that are made of a cluster without mirrors, volumes, SSH and out-of-band programs.
SIMULATED = {
    *(
        "ECLUSTERCERT",
        "ECLUSTERCLIENTCERT",
        "ECLUSTERDANGLINGINST",
        "ECLUSTERDANGLINGNODES",
        "ECLUSTERFILECHECK",
        "EEXTAGS",
    ),
    *("EINSTANCEBADNODE", "EINSTANCEDOWN", "EINSTANCEFAULTYDISK", "EINSTANCELAYOUT", "EINSTANCEMISSINGCFGPARAMETER"),
    *("EINSTANCEPOLICY", "EINSTANCESPLITGROUPS", "EINSTANCEUNSUITABLENODE", "EINSTANCEWRONGNODE"),
    *(
        "ENODEFILECHECK",
        "ENODEFILESTORAGEPATHS",
        "ENODEFILESTORAGEPATHUNUSABLE",
        "ENODEHV",
        "ENODELVM",
        "ENODENET",
        "ENODEOS",
    ),
    *(
        "ENODEORPHANLV",
        "ENODERPC",
        "ENODESETUP",
        "ENODESHAREDFILESTORAGEPATHUNUSABLE",
        "ENODETIME",
        "ENODEUSERSCRIPTS",
        "ENODEVERSION",
    ),
}


def told(out: str) -> list[str]:
    """The lines without their times."""
    return [
        line.partition(" * ")[2] if " * " in line else line.partition("  - ")[2] or line for line in out.splitlines()
    ]


class VerifyCommandTests(ClusterCase):
    """A healthy cluster, and what the options make of it."""

    def verify(self, *options: str) -> tuple[int, list[str]]:
        """The exit status, and what is printed."""
        status, out, err = self.scene().run(["gnt-cluster", "verify", *options])
        return status, [*told(out), *err.splitlines()]

    def test_healthy(self) -> None:
        """Nothing is found; the headings are those of Ganeti, in its order."""
        group = [line.format(name) for line, name in zip(OF_GROUP, ["default", 3, 3, 3, *[""] * 7], strict=True)]
        expected = ["Submitted jobs 2, 3", "Waiting for job 2 ...", *OF_CONFIGURATION, "Waiting for job 3 ...", *group]
        self.assertEqual(self.verify(), (0, expected))

    def test_groups(self) -> None:
        """Each group has a job of its own; of the one that is named there is no other."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        status, lines = self.verify()
        self.assertEqual((status, sum(line.startswith("Waiting for job") for line in lines)), (0, 3))
        self.assertIn("Gathering information about the master node", lines)
        status, lines = self.verify("-g", "rack2")
        self.assertEqual(
            (status, [line for line in lines if line.startswith("Verifying group")]), (0, ["Verifying group 'rack2'"])
        )
        self.assertNotIn(OF_CONFIGURATION[0], lines)

    def test_unknown_group(self) -> None:
        """Its job fails, which is said."""
        status, lines = self.verify("-g", "rack9")
        self.assertEqual(status, 1)
        self.assertIn("1 job(s) failed while verifying the cluster.", lines)
        self.assertIn("Node group 'rack9' not found", lines)
        self.fails("gnt-cluster verify-disks -g rack9", "Node group 'rack9' not found")

    def test_verbose(self) -> None:
        """Each node and instance is named."""
        self.ok(ADD)
        _, lines = self.verify("-v")
        for line in (
            "Verifying node node1.example.com (master)",
            "Verifying node node2.example.com (master candidate)",
            "Verifying instance web1.example.com",
            "NOTICE: 1 non-redundant instance(s) found.",
        ):
            self.assertIn(line, lines)

    def test_ignored(self) -> None:
        """What is ignored is a warning, and the exit status that of success."""
        runs(self.cluster, 2, "ghost.example.com")
        self.assertEqual(self.verify()[0], 1)
        status, lines = self.verify("--ignore-errors=ENODEORPHANINSTANCE")
        self.assertEqual(status, 0)
        [line] = [line for line in lines if "unknown instance" in line]
        self.assertIn("WARNING: node node2.example.com: unknown instance ghost.example.com is running; 'rm ", line)
        self.assertEqual(self.verify("-I", "BOGUS")[0], 2)

    def test_no_memory_check(self) -> None:
        """The one check that can be left out is."""
        self.assertNotIn("Verifying N+1 Memory redundancy", self.verify("--no-nplus1-mem")[1])

    def test_simulated(self) -> None:
        """Every check fails, also of what is well."""
        self.ok(ADD)
        status, lines = self.verify("--debug-simulate-errors", "--error-codes")
        self.assertEqual(status, 1)
        codes = {line.split(":")[1] for line in lines if line.startswith(("ERROR:", "WARNING:"))}
        self.assertEqual(codes, SIMULATED)
        self.assertEqual(self.verify()[0], 0)

    def test_dry_run(self) -> None:
        """Nothing is submitted."""
        status, lines = self.verify("--dry-run")
        self.assertEqual((status, [line for line in lines if line.startswith("Submitted")]), (0, []))

    def test_silent_node(self) -> None:
        """Of a node that does not answer that is told, what cannot be known of it, and nothing else."""
        self.ok(ADD)
        self.cluster.node(2).stop()
        status, lines = self.verify("--error-codes")
        self.assertEqual(status, 1)
        found = {tuple(line.split(":")[1:4]) for line in lines if line.startswith("ERROR:")}
        node, instance = ("node", "node2.example.com"), ("instance", "web1.example.com")
        self.assertEqual(
            found,
            {
                ("ENODERPC", *node), ("ENODEFILECHECK", *node), ("ENODEHOOKS", *node),
                ("EINSTANCEDOWN", *instance), ("EINSTANCEFAULTYDISK", *instance),
            },
        )  # fmt: skip

    def test_clutter(self) -> None:
        """Keys that are left over are only looked for when asked."""
        self.assertEqual(self.verify("--verify-ssh-clutter")[0], 0)


class VerifyHooksTests(ClusterCase):
    """Scripts around the verification of a group."""

    def test_told(self) -> None:
        """They run on the nodes of the group, once for each group, with the tags of the cluster and of these nodes."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-cluster add-tags prod")
        self.ok("gnt-node add-tags node3 old slow")
        script = self.cluster.paths.hooks_dir / "cluster-verify-post.d" / "look"
        before = self.cluster.paths.hooks_dir / "cluster-verify-pre.d" / "look"
        for node in self.cluster.members:
            put(node.disk, script, b"#!/bin/sh\n", 0o755)
            put(node.disk, before, b"#!/bin/sh\n", 0o755)
        self.ok("gnt-cluster verify")
        calls = [[call for call in node.scripts.calls if call.argv == (str(script),)] for node in self.cluster.members]
        self.assertEqual([len(each) for each in calls], [1, 1, 1])
        self.assertEqual(
            [call for node in self.cluster.members for call in node.scripts.calls if call.argv == (str(before),)], []
        )
        env = dict(calls[2][0].env)
        for name, value in {
            "HOOKS_PATH": "cluster-verify", "OBJECT_TYPE": "CLUSTER", "OP_CODE": "OP_CLUSTER_VERIFY_GROUP",
            "CLUSTER_TAGS": "prod", "NODE_TAGS_node3.example.com": "old slow", "CLUSTER": "cluster.example.com",
            "POST_CLUSTER_TAGS": "prod", "POST_NODE_TAGS_node3.example.com": "old slow", "MASTER": "node1.example.com",
        }.items():  # fmt: skip
            self.assertEqual(env[f"GANETI_{name}"], value)
        self.assertNotIn("GANETI_NODE_TAGS_node1.example.com", env)

    def test_output(self) -> None:
        """What a script that fails says is told, line by line."""
        failing_hook(self.cluster)
        status, out, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertEqual(status, 1)
        self.assertIn("      the fan is loud\n", out)

    def test_well(self) -> None:
        """A script that does well says nothing."""
        failing_hook(self.cluster)
        script = str(self.cluster.paths.hooks_dir / "cluster-verify-post.d" / "check")
        self.cluster.node(2).scripts.script([script], ProcessResult(stdout=b"all is well\n"))
        self.assertNotIn("all is well", self.ok("gnt-cluster verify"))


class VerifyDisksTests(ClusterCase):
    """A mirrored instance that should be ready, of which no volume is there."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        time = SimulatedTime()
        reserved = cluster_with(reserved_lvs=("a(", "xenvg/(o+)+!", "xenvg/ro+t"))
        wire = MirrorWire(time.seconds, rate=10.0)
        cluster = InProcessCluster(3, seed, time=time, mirror_wire=wire, prepare=mirrored(reserved, disks_active=True))
        self.addCleanup(cluster.end)
        return cluster

    def test_orphans(self) -> None:
        """Volumes of nobody's are told, but for those reserved; a pattern that is none, or never ends, reserves nothing."""
        home = self.cluster.node(3).mirror_node
        assert home is not None
        long = f"xenvg/{'o' * 60}"
        home.volumes.disks.update({"xenvg/root": FakeDisk(1), "xenvg/stray": FakeDisk(1), long: FakeDisk(1)})
        out = self.scene().run(["gnt-cluster", "verify"])[1]
        found = [line.partition("  - ")[2] for line in out.splitlines() if " is unknown" in line]
        unknown = [f"WARNING: node node3.example.com: volume {name} is unknown" for name in (long, "xenvg/stray")]
        self.assertEqual(found, unknown)

    def test_missing(self) -> None:
        """Volumes that are gone are named with their nodes; nothing can be activated then."""
        status, _, err = self.scene().run(["gnt-cluster", "verify-disks"])
        self.assertEqual(status, 1)
        self.assertIn(
            "Instance web1.example.com has missing logical volumes:\n  node node2.example.com: xenvg/web1.data\n", err
        )
        self.assertIn("run 'gnt-instance replace-disks' for web1.example.com", err)

    def test_missing_plain(self) -> None:
        """What has no other copy is made anew."""
        self.ok("gnt-cluster modify --enabled-disk-templates=drbd,plain --ipolicy-disk-templates=drbd,plain")
        self.ok("gnt-instance add -t plain -s 1G -o noop -H fake --no-name-check --no-ip-check -n node3 db1")
        home = self.cluster.node(3).mirror_node
        assert home is not None
        home.volumes.disks.clear()
        _, _, err = self.scene().run(["gnt-cluster", "verify-disks"])
        self.assertIn("run 'gnt-instance recreate-disks' for db1", err)
        self.assertIn("run 'gnt-instance replace-disks' for web1.example.com", err)

    def test_errors(self) -> None:
        """A node that cannot tell is told of, and nothing is made of it."""

        def fault(node: str, call: NodeCall[object]) -> Wrong | None:
            return Says("the disks are away") if isinstance(call, BlockdevStates) else None

        self.cluster.network.fault = fault
        status, out, err = self.scene().run(["gnt-cluster", "verify-disks"])
        self.assertEqual(status, 1)
        self.assertIn("Error gathering data on node node2.example.com: the disks are away\n", err)
        self.assertIn("No disks need to be activated.\n", out)

"""Hooks of a whole cluster: which scripts run where, what they are told, and what becomes of those that fail."""

from ganeti_tx.model.enums import AdminState
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

ADD = "gnt-instance add -t file -s 1G -o noop --no-start -n node2 web1"
REFUSES = ProcessResult(status=1, stdout=b"no start today\n", stderr=b"on stderr\n")


class HookTests(ClusterCase):
    """A script named `seen` in every hook that a test names, on every node."""

    def have(self, *directories: str, name: str = "seen") -> None:
        """Install a script in each of these directories."""
        for node in self.cluster.nodes.values():
            for directory in directories:
                put(node.disk, self.cluster.paths.hooks_dir / directory / name, b"#!/bin/sh\n", 0o755)

    def ran(self, directory: str, name: str = "seen") -> dict[str, Call]:
        """The runs of a script, by node; a node runs it once at most."""
        script = str(self.cluster.paths.hooks_dir / directory / name)
        runs = [
            (node.name.split(".")[0], call)
            for node in self.cluster.nodes.values()
            if hasattr(node, "scripts")
            for call in node.scripts.calls
            if call.argv == (script,)
        ]
        self.assertEqual(len(dict(runs)), len(runs), runs)
        return dict(runs)

    def env(self, directory: str, node: str = "node1") -> dict[str, str]:
        """What the script was told on a node."""
        return dict(self.ran(directory)[node].env)

    def refuse(self, node: int, directory: str, name: str = "seen") -> None:
        """Have a script fail on one node."""
        script = str(self.cluster.paths.hooks_dir / directory / name)
        self.cluster.node(node).scripts.script([script], REFUSES)

    def test_groups(self) -> None:
        """Scripts of node groups run on the master, those of a renaming also on the group's nodes; a move of nodes has none."""
        hooks = ("group-add", "group-modify", "group-rename", "group-remove", "group-assign-nodes")
        self.have(*(f"{hook}-{phase}.d" for hook in hooks for phase in ("pre", "post")))
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-group modify --alloc-policy=unallocable rack2")
        self.ok("gnt-group rename rack2 rack3")
        self.ok("gnt-group assign-nodes default node3")
        self.ok("gnt-group remove rack3")
        for hook in ("group-add", "group-modify", "group-remove"):
            self.assertEqual(
                (list(self.ran(f"{hook}-pre.d")), list(self.ran(f"{hook}-post.d"))), (["node1"], ["node1"])
            )
        self.assertEqual(sorted(self.ran("group-rename-pre.d")), ["node1", "node3"])
        self.assertEqual(self.ran("group-assign-nodes-pre.d"), {})
        told = {
            "group-add-pre.d": {"GANETI_GROUP_NAME": "rack2", "GANETI_OBJECT_TYPE": "GROUP"},
            "group-modify-post.d": {"GANETI_POST_NEW_ALLOC_POLICY": "unallocable", "GANETI_GROUP_NAME": "rack2"},
            "group-rename-post.d": {"GANETI_OLD_NAME": "rack2", "GANETI_POST_NEW_NAME": "rack3"},
            "group-remove-post.d": {"GANETI_GROUP_NAME": "rack3", "GANETI_POST_GROUP_NAME": "rack3"},
        }
        for directory, wanted in told.items():
            seen = self.env(directory)
            self.assertEqual({name: seen.get(name) for name in wanted}, wanted)
            self.assertNotIn("GANETI_OP_TARGET", seen)

    def test_life_of_an_instance(self) -> None:
        """Scripts run on the master and the instance's node; after the work they are told what was and what is."""
        self.have("instance-add-pre.d", "instance-add-post.d", "instance-start-pre.d", "instance-start-post.d")
        self.have("instance-remove-pre.d", "instance-remove-post.d", "global-pre.d", "global-post.d")
        self.ok(ADD)
        self.ok("gnt-instance startup web1")
        self.ok("gnt-instance remove -f web1")
        for hook in ("instance-add", "instance-start"):
            self.assertEqual(sorted(self.ran(f"{hook}-pre.d")), ["node1", "node2"])
            self.assertEqual(sorted(self.ran(f"{hook}-post.d")), ["node1", "node2"])
        self.assertEqual(sorted(self.ran("instance-remove-pre.d")), ["node1"])
        self.assertEqual(sorted(self.ran("instance-remove-post.d")), ["node1", "node2"])
        self.assertEqual(self.ran("global-pre.d") | self.ran("global-post.d"), {})

        added, started = self.env("instance-add-pre.d", "node2"), self.env("instance-start-post.d")
        common = {
            "GANETI_HOOKS_VERSION": "2",
            "GANETI_HOOKS_PATH": "instance-add",
            "GANETI_HOOKS_PHASE": "pre",
            "GANETI_OP_CODE": "OP_INSTANCE_CREATE",
            "GANETI_OBJECT_TYPE": "INSTANCE",
            "GANETI_CLUSTER": "cluster.example.com",
            "GANETI_MASTER": "node1.example.com",
            "GANETI_DATA_DIR": "/var/lib/ganeti",
            "GANETI_ADD_MODE": "create",
            "GANETI_OP_TARGET": "web1.example.com",
            "GANETI_INSTANCE_STATUS": "False",
            "GANETI_INSTANCE_PRIMARY": "node2.example.com",
            "GANETI_INSTANCE_NIC0_BRIDGE": "xen-br0",
        }
        self.assertEqual({name: added[name] for name in common}, common)
        self.assertEqual([name for name in added if name.startswith("GANETI_POST_")], [])
        self.assertEqual(
            (started["GANETI_INSTANCE_STATUS"], started["GANETI_POST_INSTANCE_STATUS"], started["GANETI_POST_FORCE"]),
            ("down", "up", "False"),
        )
        removed = self.env("instance-remove-post.d", "node2")
        self.assertEqual(removed["GANETI_POST_INSTANCE_NAME"], "web1.example.com")

    def test_refused(self) -> None:
        """A script that fails before stops the work; all of them run first, and each that failed is named."""
        self.ok(ADD)
        self.have("instance-start-pre.d", "instance-start-post.d")
        self.have("instance-start-pre.d", name="90-too")
        self.refuse(2, "instance-start-pre.d")
        said = self.fails("gnt-instance startup web1", "Failure: hooks execution failed:")
        line = "  node: node2.example.com, script: instance-start-pre.d/seen, output: no start today\\non stderr"
        self.assertIn(line, said)
        self.assertEqual(sorted(self.ran("instance-start-pre.d", "90-too")), ["node1", "node2"])
        self.assertEqual(self.ran("instance-start-post.d"), {})
        self.assertEqual(self.cluster.running(), {})
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(instance.admin_state, AdminState.DOWN)

    def test_failure_afterwards(self) -> None:
        """A script that fails afterwards is told; the work is done."""
        self.ok(ADD)
        self.have("instance-start-post.d")
        self.refuse(1, "instance-start-post.d")
        said = self.ok("gnt-instance startup web1")
        self.assertIn(
            "- WARNING: On node1.example.com script instance-start-post.d/seen failed, output:"
            " no start today\\non stderr",
            said,
        )
        self.assertEqual(list(self.cluster.running()), ["node2.example.com"])

    def test_dry_run(self) -> None:
        """Only the scripts before run."""
        self.have("instance-add-pre.d", "instance-add-post.d", "config-update-post.d")
        said = self.ok(ADD.replace("web1", "--dry-run web1"))
        self.assertIn("dry-run mode requested, not actually executing the operation", said)
        self.assertEqual(sorted(self.ran("instance-add-pre.d")), ["node1", "node2"])
        self.assertEqual(self.ran("instance-add-post.d") | self.ran("config-update-post.d"), {})

    def test_configuration(self) -> None:
        """After a change of the configuration the master runs its scripts for that, whatever the opcode."""
        self.have("config-update-post.d")
        self.ok("gnt-cluster list-tags")
        self.assertEqual(self.ran("config-update-post.d"), {})
        self.ok("gnt-cluster add-tags blue")
        told = self.env("config-update-post.d")
        self.assertEqual(list(self.ran("config-update-post.d")), ["node1"])
        self.assertEqual((told["GANETI_OP_CODE"], told["GANETI_HOOKS_PHASE"]), ("OP_TAGS_SET", "post"))
        self.assertNotIn("GANETI_OBJECT_TYPE", told)

    def test_nodes_come_and_go(self) -> None:
        """A new node runs the scripts afterwards only; one that is removed runs them before it leaves."""
        self.have("node-add-pre.d", "node-add-post.d", "node-modify-pre.d", "node-modify-post.d")
        self.have("node-remove-pre.d", "node-remove-post.d")
        self.ok("gnt-node modify --master-candidate=no --auto-promote node3")
        self.assertEqual(sorted(self.ran("node-modify-post.d")), ["node1", "node3"])
        told = self.env("node-modify-pre.d", "node3")
        self.assertEqual((told["GANETI_MASTER_CANDIDATE"], told["GANETI_OFFLINE"]), ("False", "None"))
        third = self.cluster.node(3).scripts
        self.ok("gnt-node remove node3")
        self.assertEqual(sorted(self.ran("node-remove-pre.d")), ["node1", "node2"])
        self.assertEqual(sorted(self.ran("node-remove-post.d")), ["node1", "node2", "node3"])
        self.assertEqual(third.calls[-1].env["GANETI_POST_NODE_NAME"], "node3.example.com")
        self.ok("gnt-node add node4")
        self.assertEqual(sorted(self.ran("node-add-post.d")), ["node1", "node2", "node4"])
        self.assertEqual(self.env("node-add-post.d", "node4")["GANETI_POST_NODE_PIP"], "192.0.2.4")

    def test_silent_node(self) -> None:
        """A node that does not answer is told of, and refuses nothing; one that is offline is not asked."""
        self.ok(ADD)
        self.have("instance-remove-pre.d", "instance-remove-post.d", "node-modify-pre.d")
        self.cluster.node(2).stop()
        said = self.ok("gnt-node modify --drained=yes node2")
        self.assertIn("- WARNING: Communication failure to node node2.example.com: ", said)
        self.assertEqual(sorted(self.ran("node-modify-pre.d")), ["node1"])
        self.ok("gnt-node modify --force --offline=yes node2")
        said = self.ok("gnt-instance remove -f --ignore-failures web1")
        self.assertNotIn("Communication failure", said)
        self.assertEqual(sorted(self.ran("instance-remove-post.d")), ["node1"])

    def test_nobody_answers(self) -> None:
        """When no node can be asked, nothing is done."""
        self.cluster.node(1).stop()
        self.fails("gnt-cluster modify --mac-prefix aa:00:01", "hooks could not be run")
        self.assertEqual(self.cluster.config.cluster.mac_prefix, "aa:00:00")

    def test_failed_work(self) -> None:
        """After work that failed no scripts run, nor after such as was refused."""
        self.ok(ADD)
        self.have("instance-remove-pre.d", "instance-remove-post.d", "instance-start-pre.d")
        self.cluster.node(2).stop()
        self.fails("gnt-instance startup web1", "node2.example.com")
        self.assertEqual(self.ran("instance-start-pre.d"), {})
        self.fails("gnt-instance remove -f web1", "could not shut down instance")
        self.assertEqual(list(self.ran("instance-remove-pre.d")), ["node1"])
        self.assertEqual(self.ran("instance-remove-post.d"), {})

    def start(self, seconds: float) -> int:
        """A job that starts the instance, so many seconds on; each script takes two."""
        self.ok(ADD)
        self.have("instance-start-pre.d", "instance-start-post.d")
        job_id = self.luxi().submit_job(
            [{"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": "web1.example.com", "reason": []}]
        )
        self.cluster.pass_time(seconds)
        self.luxi().cancel_job(job_id)
        self.cluster.pass_time(20)
        return job_id

    def test_stopped_before(self) -> None:
        """A job that is stopped while scripts run before the work lets them end, and does not begin."""
        self.assertEqual(self.statuses(self.start(1.0)), ["canceled"])
        self.assertEqual(sorted(self.ran("instance-start-pre.d")), ["node1", "node2"])
        self.assertEqual((self.ran("instance-start-post.d"), self.cluster.running()), ({}, {}))

    def test_stopped_afterwards(self) -> None:
        """One that is stopped while scripts run afterwards has done its work."""
        self.assertEqual(self.statuses(self.start(3.5)), ["success"])
        self.assertEqual(sorted(self.ran("instance-start-post.d")), ["node1", "node2"])
        self.assertEqual(list(self.cluster.running()), ["node2.example.com"])

"""Node groups of a whole cluster, by commands and the Remote API."""

import re

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.test_rapi import RapiCase

POLICY = "cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1"
LARGE = "cpu-count=8,disk-count=8,disk-size=1T,memory-size=16G,nic-count=4,spindle-use=8"


class GroupTests(ClusterCase):
    """Three nodes in the group default."""

    def nodes(self, group: str) -> str:
        """The nodes of a group, with commas between them."""
        return self.ok(f"gnt-group list --no-headers -o node_list {group}").replace(".example.com", "").strip()

    def test_walk(self) -> None:
        """A group is made, filled, renamed, emptied and removed."""
        self.ok("gnt-group add --alloc-policy=last_resort --node-parameters spindle_count=2 rack2")
        self.ok("gnt-group assign-nodes rack2 node2 node3")
        self.assertEqual((self.nodes("default"), self.nodes("rack2")), ("node1", "node2,node3"))
        self.ok("gnt-group rename rack2 rack3")
        self.fails(
            "gnt-group remove rack3", "Group 'rack3' not empty, has the following nodes: node2.example.com, node3"
        )
        self.ok("gnt-node modify -g default node2")
        told = self.ok("gnt-node modify -g default --node-parameters spindle_count=4 node3")
        self.assertIn("Modified node node3\n - ndparams/spindle_count -> 4", told)
        self.assertEqual(self.nodes("default"), "node1,node2,node3")
        self.ok("gnt-group remove rack3")
        self.assertEqual(self.ok("gnt-group list --no-headers -o name"), "default\n")
        self.ok("gnt-cluster verify")

    def test_old_spellings(self) -> None:
        """As design-2.3 has them."""
        self.ok("gnt-node group-add rack2")
        self.ok("gnt-node group-rename rack2 rack3")
        self.assertEqual(self.ok("gnt-node group-list --no-headers -o name"), "default\nrack3\n")
        self.ok("gnt-node group-del rack3")
        self.fails("gnt-node group-del rack3", "unknown_entity")
        self.ok("gnt-node group-add rack2")
        self.ok("gnt-node modify -g rack2 node3")
        self.assertEqual(self.ok("gnt-node list -g rack2 --no-headers -o name"), "node3.example.com\n")
        self.assertIn("- Node name: node3.example.com", self.ok("gnt-node info -g rack2"))
        self.assertNotIn("node2", self.ok("gnt-node info --node-group rack2"))
        for verb in ("list", "info"):
            self.fails(f"gnt-node {verb} -g nosuch", "unknown_entity.*\n.*nosuch")

    def test_settings(self) -> None:
        """What is set is shown, and what comes from the cluster as well."""
        self.ok("gnt-group add rack2")
        self.assertEqual(self.ok("gnt-group modify rack2"), "")
        told = self.ok("gnt-group modify --node-parameters spindle_count=3,oob_program=/bin/true rack2")
        self.assertEqual(
            told, "Modified node group rack2\n - ndparams -> {'spindle_count': 3, 'oob_program': '/bin/true'}\n"
        )
        told = self.ok("gnt-group modify -D drbd:metavg=meta rack2")
        self.assertEqual(told, "Modified node group rack2\n - diskparams -> {'drbd': {'metavg': 'meta'}}\n")
        self.ok(f"gnt-group modify --ipolicy-bounds-specs min:{POLICY}/max:{LARGE} --ipolicy-vcpu-ratio=2 rack2")
        info = self.ok("gnt-group info rack2")
        for line in (
            "- Node group: rack2\n  Node parameters: \n    cpu_speed: default (1)\n",
            "    spindle_count: 3\n",
            "      metavg: meta\n",
            "    sharedfile: default ({})\n",
            "  Instance policy: \n    bounds specs: \n      - max/0: \n          cpu-count: 8\n",
            "    vcpu-ratio: 2\n    spindle-ratio: default (32)\n",
        ):
            self.assertIn(line, info)
        self.assertEqual(
            self.ok("gnt-group show-ispecs-cmd rack2"),
            "gnt-group add --ipolicy-bounds-specs min:cpu-count=1,disk-count=0,disk-size=4,memory-size=4,nic-count=0,"
            "spindle-use=1/max:cpu-count=8,disk-count=8,disk-size=1048576,memory-size=16384,nic-count=4,spindle-use=8 rack2\n",
        )
        self.ok("gnt-group modify --ipolicy-bounds-specs default --ipolicy-vcpu-ratio=default rack2")
        self.assertEqual(self.ok("gnt-group show-ispecs-cmd rack2"), "gnt-group add rack2\n")
        self.assertIn("vcpu-ratio: default (4)", self.ok("gnt-group info rack2"))
        self.assertIn("spindle_count=3", self.ok("gnt-group list rack2"))
        self.ok("gnt-group modify --ipolicy-disk-templates=file rack2")
        self.assertIn("allowed disk templates: file\n", self.ok("gnt-group info rack2"))
        self.ok("gnt-group modify --ipolicy-disk-templates=default rack2")
        self.assertIn("allowed disk templates: default (", self.ok("gnt-group info rack2"))

    def test_disk_state(self) -> None:
        """By volume group and parameter: what is not named stays."""
        for given in ("xenvg:disk_reserved=1", "xenvg:disk_overhead=2", "other:disk_reserved=3"):
            self.ok(f"gnt-group modify --disk-state plain/{given} default")
        (group,) = self.cluster.config.nodegroups.values()
        state = {"xenvg": {"disk_reserved": "1", "disk_overhead": "2"}, "other": {"disk_reserved": "3"}}
        self.assertEqual(group.disk_state_static, {"plain": state})

    def test_bad(self) -> None:
        """Refused in one line, with nothing changed."""
        before = self.cluster.config
        for line, reason in (
            ("gnt-group add default", "Desired group name 'default' already exists as a node group (UUID: "),
            ("gnt-group add --alloc-policy=bogus x", "bogus"),
            ("gnt-group add -D file:x=1 x", "unknown parameter"),
            ("gnt-group add -D nosuch:a=1 x", "nosuch"),
            ("gnt-group add --ipolicy-bounds-specs min:disk-size=1M x", "min"),
            (f"gnt-group add --ipolicy-bounds-specs min:disk-size=1M/max:{LARGE} x", "memory-size: missing"),
            ("gnt-group add --ipolicy-vcpu-ratio=abc x", "abc"),
            ("gnt-group modify --ipolicy-disk-templates=bogus default", "bogus"),
            ("gnt-group modify --ipolicy-disk-templates=rbd default", "not enabled on the cluster: rbd"),
            ("gnt-group modify --disk-state file:a=1 default", "Invalid storage type(s) in disk state: file"),
            (
                "gnt-group modify --hypervisor-state nosuch:a=1 default",
                "Invalid hypervisor(s) in hypervisor state: nosuch",
            ),
            ("gnt-group modify --alloc-policy=preferred nosuch", "unknown_entity"),
            ("gnt-group rename nosuch x", "unknown_entity"),
            ("gnt-group rename default default", "clashes with existing node group"),
            ("gnt-group remove default", "wrong_state"),
            ("gnt-group remove nosuch", "unknown_entity"),
            ("gnt-group assign-nodes nosuch node3", "unknown_entity"),
            ("gnt-group assign-nodes default nosuch", "unknown_entity"),
            ("gnt-group assign-nodes default", "wrong_input"),
            ("gnt-group evacuate nosuch", "unknown_entity"),
            ("gnt-group evacuate --to nosuch default", "unknown_entity"),
            ("gnt-group evacuate --to default default", "can not be used as a target group (targets are default)"),
            ("gnt-group evacuate default", "There are no possible target groups"),
            ("gnt-group list nosuch", "unknown_entity"),
            ("gnt-node modify -g nosuch node3", "unknown_entity"),
        ):
            self.fails(line, re.escape(reason))
        self.assertEqual(self.cluster.config.nodegroups, before.nodegroups)

    def test_info_of_none(self) -> None:
        """As with Ganeti that is no failure; those that are there are shown."""
        status, out, err = self.scene().run(["gnt-group", "info", "nosuch"])
        self.assertEqual((status, out), (0, "\n"))
        self.assertIn("nosuch", err)
        self.assertIn("- Node group: default", self.ok("gnt-group info nosuch default"))

    def test_evacuate(self) -> None:
        """A group without instances is empty already; where others may go, somebody must find."""
        self.ok("gnt-group add rack2")
        self.assertEqual(self.ok("gnt-group evacuate rack2"), "Group rack2 has no instances\n")
        self.ok("gnt-instance add -t file -s 1G -o noop --no-start -n node1 web1")
        self.fails("gnt-group evacuate --to rack2 default", "there is no cluster-wide default iallocator")

    def test_dry_run(self) -> None:
        """Everything is checked, nothing is done."""
        before = self.cluster.config.nodegroups
        self.assertIn("1. add the group", self.ok("gnt-group add --dry-run rack2"))
        self.fails("gnt-group add --dry-run default", "already exists")
        self.assertEqual(self.cluster.config.nodegroups, before)

    def test_tags(self) -> None:
        """Groups have tags."""
        self.ok("gnt-group add-tags default one two")
        self.assertEqual(self.ok("gnt-group list-tags default"), "one\ntwo\n")
        self.ok("gnt-group remove-tags default one")
        self.assertEqual(self.ok("gnt-group list-tags default"), "two\n")

    def test_instances_of_groups(self) -> None:
        """Instances are started, restarted and stopped by the node groups that their primary nodes are in."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-instance add -t file -s 1G -o noop --no-start -n node1 web1")
        self.ok("gnt-instance add -t file -s 1G -o noop --no-start -n node3 web3")
        for verb in ("startup", "reboot"):
            self.ok(f"gnt-instance {verb} --node-group --force-multiple rack2")
            self.assertEqual(self.cluster.running(), {"node3.example.com": ["web3.example.com"]})
        self.ok("gnt-instance shutdown --node-group --force-multiple rack2 default")
        self.assertEqual(self.cluster.running(), {})
        self.fails("gnt-instance startup --node-group --force-multiple nosuch", "unknown_entity")
        self.fails("gnt-instance startup --node-group --force-multiple", "node group")


class RemoteTests(RapiCase):
    """The same through the Remote API."""

    def test_walk(self) -> None:
        """A group is made, filled, changed, renamed, emptied and removed."""
        self.done("POST", "/2/groups", {"name": "rack2", "alloc_policy": "last_resort"})
        self.done("PUT", "/2/groups/rack2/assign-nodes", {"nodes": ["node3.example.com"]})
        self.done("PUT", "/2/groups/rack2/modify", {"alloc_policy": "unallocable"})
        self.assertEqual(self.done("PUT", "/2/groups/rack2/rename", {"new_name": "rack3"}), ["rack3"])
        self.done("PUT", "/2/groups/rack3/tags?tag=one")
        group = self.send("GET", "/2/groups/rack3")
        told = (group["alloc_policy"], group["node_list"], group["tags"])
        self.assertEqual(told, ("unallocable", ["node3.example.com"], ["one"]))
        self.done("PUT", "/2/modify", {"default_group": "rack3"})
        self.assertEqual(self.send("GET", "/2/info")["default_group"], group["uuid"])
        self.done("PUT", "/2/groups/default/assign-nodes", {"nodes": ["node3.example.com"]})
        self.done("DELETE", "/2/groups/rack3")
        self.assertEqual([each["name"] for each in self.send("GET", "/2/groups")], ["default"])

    def test_refused(self) -> None:
        """A job fails with the class and code that the command would show; nothing is changed."""
        before = self.cluster.config.nodegroups
        for method, address, body, code in (
            ("POST", "/2/groups", {"name": "default"}, "already_exists"),
            ("POST", "/2/groups", {"name": "x", "ipolicy": {"vcpu-ratio": 0}}, "wrong_input"),
            ("PUT", "/2/groups/nosuch/modify", {}, "unknown_entity"),
            ("PUT", "/2/groups/default/modify", {"ndparams": {"ssh_port": 0}}, "wrong_input"),
            ("PUT", "/2/groups/default/modify", {"diskparams": {"drbd": {"nosuch": 1}}}, "wrong_input"),
            ("PUT", "/2/groups/default/assign-nodes", {"nodes": ["nosuch"]}, "unknown_entity"),
            ("DELETE", "/2/groups/default", None, "wrong_state"),
            ("PUT", "/2/groups/nosuch/rename", {"new_name": "x"}, "unknown_entity"),
        ):
            job_id = self.send(method, address, body)
            self.cluster.pass_time(30)
            [[kind, [_text, told]]] = self.send("GET", f"/2/jobs/{job_id}")["opresult"]
            self.assertEqual((kind, told), ("OpPrereqError", code), address)
        self.assertEqual(self.cluster.config.nodegroups, before)

"""Command lines as the designs of 2.0, 2.1 and 2.3, and of the allocators, spell them: each is taken, and asks for what it says."""

import json
from collections.abc import Mapping

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.cli.fakes import CommandLine
from ganeti_tx.test.cli.walk import Around, Readings, scenery, traced
from ganeti_tx.test.cli.walk_cases import NO_JOBS

ADD = "gnt-instance add -t file -o noop -n node2"
#: By design: each line with what is then found in what is sent.
LINES: Mapping[str, Mapping[str, str]] = {
    "design-2.0, network device options": {
        f"{ADD} --os-size 1G --net 0:mac=auto,bridge=br0 new1": '"nics": [{"mac": "auto", "bridge": "br0"}]',
        f"{ADD} --os-size 1G --net 0:bridge=auto new1": '"nics": [{"bridge": "auto"}]',
        f"{ADD} --os-size 1G --net 0 new1": '"nics": [{}]',
        "gnt-instance modify --net add:mac=auto web1": '"nics": [["add", -1, {"mac": "auto"}]]',
        "gnt-instance modify --net remove web1": '"nics": [["remove", -1, {}]]',
    },
    "design-2.0, disk device options": {
        f"{ADD} --disk 0:size=1G,access=r --disk 1:size=512M new1": '"disks": [{"size": 1024, "mode": "ro"}, {"size": 512}]',
        f"{ADD} --disk 0:size=auto new1": '"disks": [{}]',
        f"{ADD} --disk 0 new1": '"disks": [{}]',
        "gnt-instance modify --disk add:size=1G web1": '"disks": [["add", -1, {"size": 1024}]]',
        "gnt-instance modify --disk add web1": '"disks": [["add", -1, {}]]',
        "gnt-instance modify --disk remove web1": '"disks": [["remove", -1, {}]]',
        "gnt-instance modify --disk 2:access=r web1": '"disks": [["modify", "2", {"mode": "ro"}]]',
        "gnt-instance modify --disk 0:access=w web1": '"disks": [["modify", "0", {"mode": "rw"}]]',
    },
    "design-2.0, hypervisor options": {
        f"{ADD} --os-size 1G --hypervisor kvm:acpi=no new1": '"hypervisor": "kvm", "hvparams": {"acpi": false}',
        "gnt-instance modify --hypervisor cdrom=/srv/boot.iso,boot_order=cdrom:network web1": (
            '"hvparams": {"cdrom": "/srv/boot.iso", "boot_order": "cdrom:network"}'
        ),
    },
    "design-2.0, cluster defaults": {
        "gnt-cluster init --defaults hypervisor=kvm,disksize=10G,bridge=br0 c1": '"default_disk_size\\": 10240',
        "gnt-cluster modify --defaults hypervisor=fake,disksize=10G,bridge=br0": '"default_disk_size": 10240',
        "gnt-cluster init --hypervisor-defaults kvm:acpi=no c1": '"acpi\\": false',
        "gnt-cluster modify --hypervisor-defaults kvm:acpi=no": '"hvparams": {"kvm": {"acpi": false}}',
    },
    "design-2.0, other commands that are named": {
        "gnt-instance remove --force web1": "OP_INSTANCE_REMOVE",
        "gnt-node migrate -f node2": "OP_NODE_MIGRATE",
        "gnt-node failover -f node2": "OP_INSTANCE_FAILOVER",
        "gnt-node evacuate -f node2": "OP_NODE_EVACUATE",
        "gnt-cluster verify": "OP_CLUSTER_VERIFY",
        "gnt-node list": "Query",
        "gnt-cluster command ls": "sh -c ls",
    },
    "design-2.1": {
        "gnt-instance replace-disks -p web2": '"mode": "replace_on_primary"',
        "gnt-node add --readd node3": '"readd": true',
        "gnt-cluster redist-conf": "OP_CLUSTER_REDIST_CONF",
        "gnt-cluster info": "QueryClusterInfo",
        "gnt-cluster init --uid-pool 1000-1010,2000 c1": '"uid_pool\\": [[1000, 1010], [2000, 2000]]',
        "gnt-cluster modify --uid-pool 1000-1010,2000": '"uid_pool": [[1000, 1010], [2000, 2000]]',
        "gnt-cluster modify --add-uids 1000-1010": '"add_uids": [[1000, 1010]]',
        "gnt-cluster modify --remove-uids 1000": '"remove_uids": [[1000, 1000]]',
    },
    "design-2.3": {
        "gnt-node group-add rack2": '"OP_ID": "OP_GROUP_ADD", "group_name": "rack2"',
        "gnt-node group-del rack2": '"OP_ID": "OP_GROUP_REMOVE", "group_name": "rack2"',
        "gnt-node group-list": '"Query", ["group"',
        "gnt-node group-rename default rack1": '"group_name": "default", "new_name": "rack1"',
        "gnt-node list -g away": '["==", "group", "away"]',
        "gnt-node info -g away": '["==", "group", "away"]',
        "gnt-node add -g away new1": '"group": "away"',
        "gnt-node modify -g away node2": '"OP_GROUP_ASSIGN_NODES", "group_name": "away", "nodes": ["node2"]',
        "gnt-cluster modify --default-group away": '"default_group": "away"',
        f"{ADD} -g away --os-size 1G new1": '"group_name": "away"',
        "gnt-cluster command -g away ls": "root@node3.example.com",
        "gnt-cluster copyfile -g away /etc/hostname": "root@node3.example.com",
        **{
            f"gnt-instance {verb} --node-group --force-multiple default": '"instance_name": "web1.example.com"'
            for verb in ("startup", "start", "shutdown", "stop", "reboot")
        },
        "gnt-cluster init --primary-ip-version 6 c1": '"primary_ip_version\\": 6',
    },
    "the allocators' design": {
        "gnt-instance add -t plain -m 2g --os-size 1g --swap-size 512m --iallocator dumb -o etch-image instance3": (
            '"disks": [{"size": 1024}, {"size": 512}]'
        ),
        "gnt-instance add -t plain -m 3400m --os-size 1g --swap-size 512m --iallocator dumb -o etch-image instance4": (
            '"memory": 3400'
        ),
        "gnt-instance add -t drbd -m 1400m --os-size 1g --swap-size 512m --iallocator dumb -o etch-image instance5": (
            '"iallocator": "dumb"'
        ),
    },
}
AROUND = Around(
    results={"OP_NODE_EVACUATE": NO_JOBS, "OP_NODE_MIGRATE": NO_JOBS},
    captured={"/etc/hostname": (0, "regular file|644|17")},
)


class SpellingTests(SynchronousTestCase):
    """Against a cluster that is read."""

    def test_each(self) -> None:
        """It ends well."""
        cluster = scenery()
        self.addCleanup(cluster.end)
        readings = Readings(cluster)
        self.addCleanup(readings.close)
        for design, lines in LINES.items():
            for line, part in lines.items():
                program, *words = line.split()
                run = traced(program, words, readings, AROUND)
                self.assertEqual(run.status, 0, (design, line, run.err))
                self.assertIn(part, json.dumps(run.sent), (design, line))


class OldSizeTests(SynchronousTestCase):
    """Of new instances."""

    def refused(self, words: str) -> str:
        """What is said of them."""
        outcome = CommandLine()("gnt-instance", "add", "-t", "plain", "-o", "noop", *words.split(), "new1")
        self.assertEqual(outcome.status, 1)
        return outcome.err

    def test_twice(self) -> None:
        """Memory that is given twice is refused, and so is a second disk without a first one."""
        self.assertIn("-m and the backend parameter maxmem both", self.refused("-s 1g -m 1g -B maxmem=2g"))
        self.assertIn("--swap-size is the second disk's", self.refused("--disk 0:size=1g --swap-size 1g"))

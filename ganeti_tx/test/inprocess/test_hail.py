"""Every kind of request, asked of Debian's hail."""

import json
from typing import Any

from ganeti_tx.allocator.answer import read_answer
from ganeti_tx.allocator.requests import ChangeGroup, NodeEvacuate
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.test_rapi import RapiCase

DEBUG = "gnt-debug iallocator -I hail"
NEW = "-t sharedfile -o noop --disks=1G --memory=256 --nics=auto"


class HailTests(ClusterCase):
    """Two nodes in one group and one in another; web1, on storage that all have, on the first."""

    def setUp(self) -> None:
        super().setUp()
        install_hail(self.cluster)
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks")
        self.ok("gnt-instance add -t sharedfile -s 1G -o noop -n node1 --no-name-check --no-ip-check web1.example.com")

    def ask(self, mode: str, words: str, direction: str = "out") -> Any:
        """What hail says, or is told."""
        return json.loads(self.ok(f"{DEBUG} --dir={direction} --mode={mode} {words}"))

    def result(self, mode: str, words: str) -> Any:
        """What it finds."""
        answer = self.ask(mode, words)
        self.assertTrue(answer["success"], answer)
        return answer["result"]

    def test_allocate(self) -> None:
        """A node for a new instance; with a count several of them."""
        self.assertEqual(self.result("allocate", f"{NEW} web2"), ["node3.example.com"])
        chosen, failed = self.result("multi-allocate", f"{NEW} --count=2 web2")
        self.assertEqual(([name for name, _nodes in chosen], failed), (["web2-0", "web2-1"], []))

    def test_nothing_fits(self) -> None:
        """It says why."""
        answer = self.ask("allocate", f"{NEW} -p 64 web2")
        self.assertFalse(answer["success"])
        self.assertIn("FailCPU", answer["info"])

    def test_relocate(self) -> None:
        """Away from the node that it is on, in its group."""
        self.assertEqual(self.result("relocate", "web1.example.com"), ["node2.example.com"])

    def test_evacuations(self) -> None:
        """The answers are read as they are meant, with their jobs."""
        name = "web1.example.com"
        for mode, words, request in (
            ("node-evacuate", "--evac-mode=primary-only", NodeEvacuate(instances=[name], evac_mode="primary-only")),
            ("change-group", "--target-groups=rack2", ChangeGroup(instances=[name], target_groups=[])),
        ):
            found = read_answer("hail", request, json.dumps(self.ask(mode, f"{words} {name}")))
            self.assertEqual(found.failed, [], mode)
            self.assertEqual([each for each, _where, _nodes in found.moved], [name])
            self.assertEqual(found.failed, [])
            self.assertEqual([op["OP_ID"] for job in found.jobs for op in job], ["OP_INSTANCE_MIGRATE"])

    def test_told(self) -> None:
        """What it would be told is shown without it."""
        group = self.cluster.config.nodegroups
        rack2 = next(uuid for uuid in group if group[uuid].name == "rack2")
        told = self.ask("change-group", "--target-groups=rack2 web1", "in")
        self.assertEqual(
            told["request"], {"type": "change-group", "instances": ["web1.example.com"], "target_groups": [rack2]}
        )
        self.assertEqual(self.ask("allocate-secondary", "web1", "in")["request"]["name"], "web1.example.com")

    def test_refused(self) -> None:
        """What is missing, there already, or not there is named; nothing is run."""
        self.fails(f"{DEBUG} --dir=out -m allocate web2", "a request of mode allocate needs disk_template, os")
        self.fails(f"{DEBUG} --dir=out -m allocate {NEW} web1.example.com", "already in the cluster")
        self.fails(f"{DEBUG} --dir=out -m relocate web9", "unknown_entity")
        self.fails(f"{DEBUG} --dir=out -m change-group --target-groups=nogroup web1", "unknown_entity")
        self.fails(f"{DEBUG} -m allocate -t file -o noop --disks= web2", "Invalid disks parameter ''")
        self.fails(f"{DEBUG.replace('hail', 'nosuch')} --dir=out web1", "iallocator module 'nosuch' not found")
        self.ok("gnt-cluster modify -I allocate:hail")
        self.fails(
            "gnt-debug iallocator --dir=out web1",
            "there is no cluster-wide default iallocator for requests of kind relocate",
        )


class NetworkTests(RapiCase):
    """A group that hail would choose, but that is not connected to the network."""

    def setUp(self) -> None:
        super().setUp()
        install_hail(self.cluster)
        for line in (
            "gnt-group add rack2",
            "gnt-group assign-nodes rack2 node3",
            "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
            "gnt-network add --network 198.51.100.0/28 lan",
            "gnt-network connect -N mode=routed,link=100 lan default",
        ):
            self.ok(line)

    def make(self, name: str, nic: dict[str, str]) -> None:
        """A new instance, whose group hail chooses."""
        instance = {
            "name": name,
            "mode": "create",
            "disk_template": "diskless",
            "disks": [],
            "nics": [nic],
            "os": "noop",
            "ip_check": False,
            "name_check": False,
        }
        [result] = self.done("POST", "/2/instances-multi-alloc", {"instances": [instance]})
        self.assertEqual(result["allocatable"], [name])

    def test_connected(self) -> None:
        """It comes to the group that has the network, and to no other one later."""
        self.make("web1.example.com", {"network": "lan", "ip": "pool"})
        self.make("web2.example.com", {})
        running = self.cluster.running()
        self.assertEqual(running.pop("node3.example.com"), ["web2.example.com"])
        self.assertEqual(list(running.values()), [["web1.example.com"]])
        said = self.ok(f"{DEBUG} --dir=out -m change-group --target-groups=rack2 web1")
        self.assertIn("group rack2 is not connected to a network required by instance web1.example.com", said)

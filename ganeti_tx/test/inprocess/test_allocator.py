"""An instance allocator in a whole cluster."""

import json
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

ADD = "gnt-instance add -t file -s 1G -o noop -I choose"


class AllocatorTests(ClusterCase):
    """A program on the master that chooses the node with the fewest instances, and keeps what it was told."""

    def setUp(self) -> None:
        super().setUp()
        self.told: list[dict[str, Any]] = []
        master = self.cluster.master
        program = self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        master.scripts.script([str(program)], self.choose)

    def choose(self, call: Call) -> ProcessResult:
        """Run the program."""
        document = json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))
        self.told.append(document)
        count = dict.fromkeys(sorted(name for name, node in document["nodes"].items() if not node["offline"]), 0)
        for instance in document["instances"].values():
            count[instance["nodes"][0]] += 1
        chosen = [min(count, key=lambda name: count[name])]
        return ProcessResult(stdout=json.dumps({"success": True, "info": "", "result": chosen}).encode())

    def places(self) -> dict[str, str]:
        """Which instance is where."""
        lines = self.ok("gnt-instance list --no-headers -o name,pnode").splitlines()
        return {name.split(".")[0]: node.split(".")[0] for name, node in map(str.split, lines)}

    def test_chosen(self) -> None:
        """The instance is made where the program says, and the file that it read is gone."""
        self.assertIn(
            "Selected nodes for instance web1.example.com via iallocator choose: node1", self.ok(f"{ADD} web1")
        )
        self.ok(f"{ADD} web2")
        self.assertEqual(self.places(), {"web1": "node1", "web2": "node2"})
        node = self.told[0]["nodes"]["node3.example.com"]
        self.assertEqual((node["total_memory"], node["free_memory"], node["total_cpus"]), (8192, 6144, 4))
        left = [name for name in self.cluster.master.disk.listdir(self.cluster.paths.run_dir) if "iallocator" in name]
        self.assertEqual(left, [])

    def test_at_once(self) -> None:
        """Of several new instances each is chosen for with those that were before it; none waits for ever."""
        for number in (1, 2, 3):
            self.ok(f"{ADD.replace('add', 'add --submit')} web{number}")
        self.cluster.pass_time(120)
        self.assertEqual([len(document["instances"]) for document in self.told], [0, 1, 2])
        self.assertEqual(sorted(self.places().values()), ["node1", "node2", "node3"])

    def test_groups(self) -> None:
        """It sees only the nodes of the group that is named, or else of the cluster's default group."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok(f"{ADD} web1")
        self.ok(f"{ADD} -g rack2 web2")
        self.ok("gnt-cluster modify --default-group=rack2")
        self.assertIn("\n  default node group: rack2\n", self.ok("gnt-cluster info"))
        self.ok(f"{ADD} web3")
        self.ok(f"{ADD} -g default web4")
        self.assertEqual(self.places(), {"web1": "node1", "web2": "node3", "web3": "node3", "web4": "node2"})
        seen = [sorted(name.split(".")[0] for name in document["nodes"]) for document in self.told]
        self.assertEqual(seen, [["node1", "node2"], ["node3"], ["node3"], ["node1", "node2"]])
        self.ok("gnt-group add empty")
        self.fails(f"{ADD} -g empty web5", "node group empty has no nodes")
        self.fails(f"{ADD} -g nosuch web5", "unknown_entity")
        self.fails("gnt-cluster modify --default-group=nosuch", "unknown_entity")

    def test_silent_node(self) -> None:
        """A node that is down is not chosen."""
        self.cluster.node(2).stop()
        self.ok(f"{ADD} web1")
        said = self.ok(f"{ADD} web2")
        self.assertIn("WARNING: node node2.example.com is not proposed to the iallocator", said)
        self.assertEqual(self.places(), {"web1": "node1", "web2": "node3"})

    def test_nobody(self) -> None:
        """Without such a program the search path is named as where it was looked for."""
        self.fails(ADD.replace("choose", "nosuch") + " web1", "iallocator module 'nosuch' not found in the search path")
        self.assert_nothing_left(self.cluster)


class BadAllocatorTests(ClusterCase):
    """Programs that do not do what they must: what is said tells who did what, and nothing is left."""

    def put(self, name: str, answer: Any) -> None:
        """A program on the master that ends so."""
        program = self.cluster.paths.iallocator_search_path[0] / name
        put(self.cluster.master.disk, program, b"#!/bin/sh\n", 0o755)
        self.cluster.master.scripts.script([str(program)], answer)

    def refused(self, name: str, reason: str) -> None:
        """A creation by it fails with these words."""
        self.fails(f"{ADD.replace('choose', name)} web1", reason)
        self.assert_nothing_left(self.cluster)

    def test_never_ends(self) -> None:
        """One that hangs is ended, and the operator knows after how long."""
        self.put("slow", lambda call: Deferred())
        self.refused("slow", "iallocator module 'slow' failed: timed out after 840 seconds")

    def test_fails(self) -> None:
        """All that it printed is told."""
        self.put("fails", ProcessResult(status=3, stdout=b"out", stderr=b"err"))
        self.refused("fails", "iallocator module 'fails' failed: exited with exit code 3, output 'outerr'")

    def test_other_answers(self) -> None:
        """No JSON, no answer, too many or too few nodes, one twice, or one that is not there."""
        node = "node1.example.com"
        for said, reason in (
            (b"", "Can't parse iallocator results"),
            (b"node1.example.com", "Can't parse iallocator results"),
            (b"[]", "Can't parse iallocator results"),
            (answer([]), "1 different node names were expected, got 0"),
            (answer([node, "node2.example.com"]), "1 different node names were expected, got 2"),
            (answer(["node9.example.com"]), "iallocator 'bad' has chosen 'node9.example.com', which is no node"),
            (answer([], False), "Can't compute nodes using iallocator 'bad': so it is"),
        ):
            self.put("bad", ProcessResult(stdout=said))
            self.refused("bad", reason)


def answer(nodes: list[str], success: bool = True) -> bytes:
    """As the protocol has it."""
    return json.dumps({"success": success, "info": "so it is", "result": nodes}).encode()

"""Nodes for disks that an allocator chooses: for new second copies, and for disks that are made anew."""

import json
from pathlib import Path
from typing import Any

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrored_case import ADD, MirroredCase


class AllocatorTests(MirroredCase):
    """A program on the master that answers as it is told; web1 is down."""

    nodes_count = 5

    def setUp(self) -> None:
        super().setUp()
        self.told: list[dict[str, Any]] = []
        self.answer: list[str] = []
        master = self.cluster.master
        program = self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        master.scripts.script([str(program)], self.choose)
        self.ok(f"{ADD} --no-start web1")

    def choose(self, call: Call) -> ProcessResult:
        """Run the program."""
        self.told.append(json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))["request"])
        return ProcessResult(stdout=json.dumps({"success": True, "info": "", "result": self.answer}).encode())

    def places(self) -> list[str]:
        """Where web1 is."""
        return self.ok("gnt-instance list --no-headers -o pnode,snodes web1").split()

    def test_new_secondary(self) -> None:
        """It is asked for a node in the place of the second one."""
        self.answer = ["node4.example.com"]
        told = self.ok("gnt-instance replace-disks -I choose web1")
        self.assertIn("Selected nodes for instance web1 via iallocator choose: node4.example.com", told)
        self.assertEqual((self.told[0]["type"], self.told[0]["relocate_from"]), ("relocate", ["node3.example.com"]))
        self.assertEqual(self.places(), ["node2.example.com", "node4.example.com"])
        self.assert_agree()

    def test_default(self) -> None:
        """Who names neither a node nor an allocator means the cluster's."""
        op = {
            "OP_ID": "OP_INSTANCE_REPLACE_DISKS",
            "instance_name": "web1",
            "mode": "replace_new_secondary",
            "reason": [],
        }
        refused = self.luxi().submit_job([op])
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(refused), ["error"])
        self.assertIn("no cluster-wide default iallocator", str(self.job(refused).ops[0].result))
        self.ok("gnt-cluster modify -I choose")
        self.answer = ["node5.example.com"]
        self.assertEqual(self.statuses(self.submitted(op)), ["success"])
        self.assertEqual(self.places(), ["node2.example.com", "node5.example.com"])

    def submitted(self, op: dict[str, Any]) -> int:
        """A job that has ended."""
        job_id: int = self.luxi().submit_job([op])
        self.cluster.pass_time(120)
        return job_id

    def test_recreated(self) -> None:
        """It is asked for as many nodes as the instance has, as for a new one."""
        for number in (2, 3):
            self.home(number).volumes.disks.clear()
        self.answer = ["node5.example.com", "node4.example.com"]
        told = self.ok("gnt-instance recreate-disks -I choose web1")
        self.assertIn("via iallocator choose: node5.example.com, node4.example.com", told)
        self.assertEqual((self.told[0]["type"], self.told[0]["required_nodes"]), ("allocate", 2))
        self.assertEqual(self.places(), ["node5.example.com", "node4.example.com"])
        self.assert_agree()

    def test_nonsense(self) -> None:
        """A node that cannot be is refused before anything is done."""
        before = self.cluster.config
        for answer, reason in ((["node2.example.com"], "is there already"), (["nosuch"], "no such node")):
            self.answer = answer
            self.fails("gnt-instance replace-disks -I choose web1", reason)
        self.assertEqual(self.cluster.config, before)
        self.assert_agree()

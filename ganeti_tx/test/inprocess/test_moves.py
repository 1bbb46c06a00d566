"""Instances that go to another node, by commands in a whole cluster: shared disks, mirrors, and what is refused."""

import json
from pathlib import Path
from typing import Any

from ganeti_tx.model.enums import AdminState
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_mirrored import NAME as MIRRORED
from ganeti_tx.test.inprocess.test_mirrored import MirroredCase

NAME = "web1.example.com"
ADD = "gnt-instance add -t sharedfile -s 1G -o noop -n node2 web1"


class SharedTests(ClusterCase):
    """An instance whose disk all nodes reach."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(ADD)

    def place(self) -> tuple[str, Any]:
        """Where the instance is said to be, and where it runs."""
        (instance,) = self.cluster.config.instances.values()
        return self.cluster.config.nodes[instance.primary_node].name, self.cluster.running()

    def assert_at(self, number: int) -> None:
        """It is there, and nowhere else."""
        name = self.cluster.node(number).name
        self.assertEqual(self.place(), (name, {name: [NAME]}))

    def test_failover(self) -> None:
        """It runs where it was sent to; the messages are Ganeti's."""
        said = self.ok("gnt-instance failover -f -n node3 web1")
        told = [
            f"Failover instance {NAME}",
            "* checking disk consistency between source and target",
            "* shutting down instance on source node",
            "* closing instance disks on node node2.example.com",
            "* deactivating the instance's disks on source node",
            "* activating the instance's disks on target node node3.example.com",
            "* starting the instance on the target node node3.example.com",
        ]
        self.assertEqual([line.split(" ", 5)[-1] for line in said.splitlines()], told)
        self.assert_at(3)

    def test_failover_of_what_is_down(self) -> None:
        """It is only said to be elsewhere."""
        self.ok("gnt-instance shutdown web1")
        said = self.ok("gnt-instance failover -f -n node3 web1")
        self.assertIn("- INFO: Not checking memory on the secondary node as instance will not be started", said)
        self.assertIn("* not checking disk consistency as instance is not running", said)
        self.assertEqual(self.place(), ("node3.example.com", {}))
        self.ok("gnt-instance startup web1")
        self.assert_at(3)

    def test_refused(self) -> None:
        """Impossible requests change nothing."""
        before = self.cluster.config
        self.ok("gnt-instance add -t file -s 1G -o noop -n node2 --no-start web2")
        for line, reason in (
            ("-n node2 web1", f"Cannot migrate instance {NAME} to its primary"),
            ("-n node3 -I hail web1", "Specify either an iallocator"),
            ("-n nosuch web1", "nosuch"),
            ("web1", "No iallocator or node given"),
            ("-n node3 web2", "Instance's disk layout 'file' does not allow failovers"),
            ("-n node3 web9", "web9"),
        ):
            self.fails(f"gnt-instance failover -f {line}", reason)
        self.assertEqual(
            self.cluster.config.instances[next(iter(before.instances))], next(iter(before.instances.values()))
        )
        self.assert_running(2)

    def assert_running(self, number: int) -> None:
        """Nothing else runs than web1, there."""
        self.assertEqual(self.cluster.running(), {self.cluster.node(number).name: [NAME]})

    def test_offline_target(self) -> None:
        """A node that is offline or drained gets no instance."""
        self.ok("gnt-node modify --drained yes node3")
        self.fails("gnt-instance failover -f -n node3 web1", "drained")
        self.ok("gnt-node modify --drained no node3")
        self.ok("gnt-node modify --offline yes node3")
        self.fails("gnt-instance failover -f -n node3 web1", "offline")
        self.assert_at(2)

    def test_offline_source(self) -> None:
        """An instance is brought away from a node that is gone."""
        self.cluster.node(2).stop()
        self.ok("gnt-node modify --offline yes --force node2")
        said = self.ok("gnt-instance failover -f -n node3 web1")
        self.assertIn("make sure that it is down", said)
        self.assertEqual(self.place()[0], "node3.example.com")
        self.assertIn(NAME, self.cluster.running()["node3.example.com"])

    def test_target_cannot_start_it(self) -> None:
        """It runs again where it was."""

        def refuse(node: str, call: NodeCall[object]) -> Says | None:
            return Says("no, not today") if isinstance(call, InstanceStart) and node.startswith("node3") else None

        self.cluster.network.fault = refuse
        self.fails("gnt-instance failover -f -n node3 web1", "could not start instance .*not today")
        self.assert_at(2)

    def test_allocator(self) -> None:
        """An allocator chooses, and the answer says whom; who has a default one need not name it."""
        master, program = self.cluster.master, self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        master.scripts.script([str(program)], lambda call: self.choose(call))
        self.assertIn(
            f"- INFO: Selected nodes for instance {NAME} via iallocator choose: node3.example.com",
            self.ok("gnt-instance failover -f -I choose web1"),
        )
        self.assertEqual(self.told["request"]["relocate_from"], ["node2.example.com"])
        self.assert_at(3)
        self.ok("gnt-cluster modify -I choose")
        self.fails("gnt-instance failover -f web1", "has chosen 'node3.example.com'")

    def choose(self, call: Call) -> ProcessResult:
        """It knows one node only."""
        self.told = json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))
        return ProcessResult(stdout=b'{"success": true, "info": "", "result": ["node3.example.com"]}')


class MirroredMoves(MirroredCase):
    """An instance with copies of its disk on another node."""

    def test_failover(self) -> None:
        """It goes to its secondary node, with what was written, and back."""
        self.ok(f"gnt-instance startup {MIRRORED}")
        self.fill()
        spec = self.view().disk_specs()[0]
        self.home(2).mirrors.write(spec, "letters")
        for number in (3, 2):
            self.ok(f"gnt-instance failover -f {MIRRORED}")
            self.assertEqual(self.cluster.running(), {self.cluster.node(number).name: [MIRRORED]})
            self.assertEqual(self.home(number).mirrors.read(self.view().disk_specs()[0]), "letters")
            self.assertEqual(self.view().primary.name, self.cluster.node(number).name)
            self.assertEqual(self.info().count("in sync, status ok"), 2)
        self.assertEqual(self.view().instance.admin_state, AdminState.UP)

    def test_degraded(self) -> None:
        """Copies that are not whole stop it, unless that is ignored."""
        self.ok(f"gnt-instance startup {MIRRORED}")
        self.fails(f"gnt-instance failover -f {MIRRORED}", "disk/0 .* is degraded on node node3")
        self.assertEqual(self.cluster.running(), {"node2.example.com": [MIRRORED]})

    def test_other_node(self) -> None:
        """There is only one place for it."""
        self.fails(f"gnt-instance failover -f -n node1 {MIRRORED}", "cannot be failed over to arbitrary nodes")

"""Instances that go to another node, by commands in a whole cluster: shared disks, mirrors, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

from ganeti_tx.model.enums import AdminState
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.calls.migration import InstanceFinalizeMigrationDst
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says, Trouble
from ganeti_tx.test.inprocess.test_adoption import DeviceCase
from ganeti_tx.test.inprocess.test_mirrored import NAME as MIRRORED
from ganeti_tx.test.inprocess.test_mirrored import MirroredCase
from ganeti_tx.test.inprocess.test_rapi import RapiCase

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

    def test_migrate(self) -> None:
        """It goes on elsewhere, without having been started there; the messages are Ganeti's."""
        started = self.started()
        said = self.ok("gnt-instance migrate -f -n node3 web1")
        told = [
            f"Migrating instance {NAME}",
            "* checking disk consistency between source and target",
            "* closing instance disks on node node3.example.com",
            "* opening instance disks on node node2.example.com in shared mode",
            "* opening instance disks on node node3.example.com in shared mode",
            "* preparing node3.example.com to accept the instance",
            "* migrating instance to node3.example.com",
            "* starting memory transfer",
            "* memory transfer complete",
            "* closing instance disks on node node2.example.com",
            "* opening instance disks on node node3.example.com in exclusive mode",
            "* done",
        ]
        lines = [line.split(" ", 5)[-1] for line in said.splitlines()]
        self.assertEqual([line for line in lines if not line.startswith("* total time")], told)
        self.assert_at(3)
        self.assertEqual(self.started(), started)

    def started(self) -> float:
        """When the guest was, in seconds."""
        [(node, [name])] = self.cluster.running().items()
        each = self.cluster.nodes[node]
        state = each.disk.read(each.paths.run_dir / "fake-hypervisor" / name, 1 << 20)
        return float(json.loads(state)["started"])

    def test_migrate_refused(self) -> None:
        """What does not run is not migrated, but may be failed over; modes are said once."""
        self.fails(
            "gnt-instance migrate -f -n node3 --non-live --migration-mode=live web1", "Only one of the --non-live"
        )
        self.fails("gnt-instance migrate -f -n node2 web1", "to its primary")
        self.ok("gnt-instance shutdown web1")
        self.fails("gnt-instance migrate -f -n node3 web1", f"please use failover: Instance {NAME} is not running")
        said = self.ok("gnt-instance migrate -f --allow-failover -n node3 web1")
        self.assertIn("- INFO: Instance is marked down or offline, fallback allowed, switching to failover", said)
        self.assertEqual(self.place(), ("node3.example.com", {}))

    def test_no_room(self) -> None:
        """Memory is taken from the instance where it does not fit, unless that is not wanted."""
        self.ok("gnt-instance remove -f web1")
        self.ok(f"{ADD.replace('web1', '-B maxmem=6000,minmem=500 web1')}")
        self.ok("gnt-instance add -t file -s 1G -o noop -n node3 -B memory=5000 web2")
        self.fails("gnt-instance migrate -f --no-runtime-changes -n node3 web1", "Not enough memory on node node3")
        self.assertIn("is reduced to 1144 MiB", self.ok("gnt-instance migrate -f -n node3 web1"))

    def test_cleanup_confirms(self) -> None:
        """Where nothing is wrong nothing changes."""
        said = self.ok("gnt-instance migrate -f --cleanup web1")
        self.assertIn("* instance confirmed to be running on its primary node (node2.example.com)", said)
        self.assert_at(2)
        self.ok("gnt-instance failover -f --cleanup web1")
        self.ok("gnt-instance shutdown web1")
        self.fails("gnt-instance migrate -f --cleanup web1", f"running at all.*'gnt-instance deactivate-disks {NAME}'")

    def test_cleanup_of_what_died(self) -> None:
        """What it advises to do with an instance that runs nowhere, though it should, can be done."""
        node = self.cluster.node(2)
        node.disk.remove(node.paths.run_dir / "fake-hypervisor" / NAME)
        told = self.fails("gnt-instance migrate -f --cleanup web1", "does not seem to be running at all")
        [advice] = re.findall("'(gnt-[^']*)'", told)
        self.ok(advice)
        self.ok("gnt-instance startup web1")
        self.assert_at(2)

    def test_cleanup_again(self) -> None:
        """It fails as long as the new node cannot have the instance be reached, where it runs already."""
        said: list[Says | Trouble] = [Trouble.ANSWER_LOST]

        def reached(node: str, call: NodeCall[object]) -> Says | Trouble | None:
            ends = isinstance(call, InstanceFinalizeMigrationDst) and call.success
            return said[0] if said and ends else None

        self.cluster.network.fault = reached
        self.fails("gnt-instance migrate -f -n node3 web1", "not known whether it runs there: .*--cleanup")
        said[:] = [Says("no such vlan")]
        self.fails("gnt-instance migrate -f --cleanup web1", "on node node3.example.com, but may not .*no such vlan")
        said.clear()
        self.assertIn("* done", self.ok("gnt-instance migrate -f --cleanup web1"))
        self.assert_at(3)

    def test_cleanup_repairs(self) -> None:
        """It follows the instance, not the configuration."""
        old, new = self.cluster.node(2), self.cluster.node(3)
        state = old.paths.run_dir / "fake-hypervisor" / NAME
        put(new.disk, state, old.disk.read(state, 1 << 20))
        self.fails("gnt-instance migrate -f --cleanup web1", "seems to be running on two nodes")
        old.disk.remove(state)
        said = self.ok("gnt-instance migrate -f --cleanup web1")
        self.assertIn("* instance running on secondary node (node3.example.com), updating config", said)
        self.assert_at(3)

    def test_whole_node(self) -> None:
        """All instances of a node go, each by its own job; what cannot go stays, and is told."""
        self.ok(f"{ADD.replace('web1', 'web2')}")
        said = self.ok("gnt-node migrate -f -n node3 node2")
        self.assertIn("All instances migrated successfully.", said)
        names = [NAME, "web2.example.com"]
        self.assertEqual(self.cluster.running(), {"node3.example.com": names})
        self.assertIn("No primary instances on node node2.example.com, exiting.", self.ok("gnt-node migrate -f node2"))
        master, program = self.cluster.master, self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        self.ok("gnt-cluster modify -I choose")
        answer = ProcessResult(stdout=b'{"success": true, "info": "", "result": ["node1.example.com"]}')
        master.scripts.script([str(program)], lambda call: answer)
        said = self.ok("gnt-node failover -f node3")
        self.assertIn("All 2 instance(s) failed over successfully.", said)
        self.assertEqual(self.cluster.running(), {"node1.example.com": names})
        self.ok("gnt-instance add -t file -s 1G -o noop -n node1 web3")
        status, out, err = self.scene().run(["gnt-node", "migrate", "-f", "-n", "node2", "node1"])
        self.assertEqual(status, 1)
        self.assertIn("There were 1 errors during the node migration.", out)
        self.assertIn("Instance's disk layout 'file' does not allow migrations", err)


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

    def test_migrate(self) -> None:
        """Both sides may write while it goes over, then only the new one; what was written is there."""
        self.ok(f"gnt-instance startup {MIRRORED}")
        self.fill()
        self.home(2).mirrors.write(self.view().disk_specs()[0], "letters")
        for number in (3, 2):
            said = self.ok(f"gnt-instance migrate -f {MIRRORED}")
            self.assertIn("* changing disks into dual-master mode", said)
            self.assertEqual(self.cluster.running(), {self.cluster.node(number).name: [MIRRORED]})
            self.assertEqual(self.home(number).mirrors.read(self.view().disk_specs()[0]), "letters")
            sides = [device for home in (2, 3) for device in self.home(home).mirrors.up.values()]
            self.assertEqual([device.primary for device in sides], [number == 2, number == 3])
            self.assertFalse(any(device.both_primary for device in sides))
            self.assertEqual(self.info().count("in sync, status ok"), 2)

    def test_migrate_degraded(self) -> None:
        """Copies that are not whole prevent it."""
        self.ok(f"gnt-instance startup {MIRRORED}")
        self.fails(
            f"gnt-instance migrate -f {MIRRORED}", "degraded on node node3.example.com, which prevents migration"
        )


class RemoteTests(RapiCase):
    """By the Remote API."""

    def test_moves(self) -> None:
        """An instance, and all of a node, as clients of Ganeti ask for it."""
        self.ok(ADD)
        self.done("PUT", f"/2/instances/{NAME}/migrate", {"mode": "live", "target_node": "node3.example.com"})
        self.assertEqual(self.cluster.running(), {"node3.example.com": [NAME]})
        self.done("PUT", f"/2/instances/{NAME}/migrate", {"cleanup": True})
        self.done("PUT", f"/2/instances/{NAME}/failover", {"target_node": "node1.example.com"})
        self.assertEqual(self.cluster.running(), {"node1.example.com": [NAME]})
        [result] = self.done("POST", "/2/nodes/node1.example.com/migrate", {"target_node": "node2.example.com"})
        [[accepted, job_id]] = result["jobs"]
        self.cluster.pass_time(60)
        self.assertTrue(accepted)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})


class TemplateTests(DeviceCase):
    """Every template whose disks all nodes reach."""

    DISKS = {
        "sharedfile": "-t sharedfile -s 1G",
        "ext": "-t ext --disk 0:size=1G,provider=shelf",
        "blockdev": "-t blockdev --disk 0:adopt=/dev/disk/by-id/lun0",
        "diskless": "-t diskless",
    }

    def test_each(self) -> None:
        """It migrates, fails over, is cleaned up after, and is removed; then all agree."""
        names = ",".join(["file", *self.DISKS])
        self.ok(f"gnt-cluster modify --enabled-disk-templates={names} --ipolicy-disk-templates={names}")
        for name, disks in self.DISKS.items():
            self.ok(f"gnt-instance add {disks} --ignore-ipolicy -o noop -n node2 web1")
            self.ok("gnt-instance migrate -f -n node3 web1")
            self.assertEqual(self.cluster.running(), {"node3.example.com": [NAME]}, name)
            self.ok("gnt-instance failover -f -n node1 web1")
            self.ok("gnt-instance migrate -f --cleanup web1")
            self.assertEqual(self.cluster.running(), {"node1.example.com": [NAME]}, name)
            self.assert_agreed(self.cluster, name)
            self.ok("gnt-instance remove -f web1")
            self.assert_agreed(self.cluster, name)

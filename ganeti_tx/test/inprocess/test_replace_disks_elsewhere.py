"""Mirrored disks that get another second node, and hooks around that."""

from random import Random

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.mirror import DrbdAttachNet
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrored_case import THREE
from ganeti_tx.test.inprocess.network import Fault, Says
from ganeti_tx.test.inprocess.test_replace_disks import REPLACE, ReplaceCase


class NewNodeTests(ReplaceCase):
    """Another second node."""

    def secret(self) -> str:
        """The mirror's."""
        (disk,) = self.cluster.config.disks.values()
        return str(disk.secrets[0])

    def test_by_hand(self) -> None:
        """The copy is there, and no longer on the old node, which knew the port; the secret stays."""
        (before,) = self.cluster.config.disks.values()
        self.ok(f"{REPLACE} -n node4 web1")
        self.assert_whole(2, 4)
        self.assertEqual(self.ready(), [0, THREE, 0, THREE])
        self.assertEqual(self.mirrors(), [0, 1, 0, 1])
        (after,) = self.cluster.config.disks.values()
        self.assertEqual(after.secrets, before.secrets)
        self.assertNotEqual(after.ports, before.ports)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o pnode,snodes web1").split()[1], "node4.example.com")
        self.ok(f"{REPLACE} -n node1 --early-release web1")
        self.assert_whole(1, 2)

    def test_stopped(self) -> None:
        """One that is down."""
        self.ok("gnt-instance shutdown web1")
        self.ok(f"{REPLACE} -n node4 web1")
        self.assertEqual(self.ready(), [0, 0, 0, 0])
        self.ok("gnt-instance startup web1")
        self.assert_whole(2, 4)

    def test_old_node_is_dead(self) -> None:
        """The old node need not be there; what it still has is told of, and removed when it is to have the disk again."""
        self.cluster.lose_power(self.cluster.node(3), Random(1))
        told = self.ok(f"{REPLACE} -n node4 web1")
        self.assertIn("Can't remove the old copy of disk/0 of instance web1 on node node3.example.com", told)
        self.cluster.node(3).boot()
        self.cluster.pass_time(60)
        self.ok(f"{REPLACE} -n node3 web1")
        self.assert_whole(2, 3)

    def test_taken_back(self) -> None:
        """A failure gives the primary node its old partner again, with the secret that no file has."""
        for kind in (BlockdevCreate, DrbdAttachNet):
            self.cluster.network.fault = self.first(kind)
            self.fails(f"{REPLACE} -n node4 web1", "could not move the copies of disk/0")
            self.cluster.network.fault = None
            self.assert_whole(2, 3)
        sent = [each.call for each in self.cluster.network.sent if isinstance(each.call, DrbdAttachNet)]
        self.assertEqual([(call.disks[0].logical_id or [])[-1] for call in sent], [self.secret()] * 2)

    def first(self, kind: type[NodeCall[object]]) -> Fault:
        """The first call of a kind is refused."""
        seen = iter(range(100))

        def fault(node: str, call: NodeCall[object]) -> Says | None:
            return Says("no") if isinstance(call, kind) and next(seen) == 0 else None

        return fault

    def test_refused(self) -> None:
        """Nodes that take no instances."""
        self.ok("gnt-node modify --drained=yes node4")
        self.fails(f"{REPLACE} -n node4 web1", "node4.example.com is drained")
        self.ok("gnt-node modify --drained=no node4")
        self.ok("gnt-node modify --offline=yes node4")
        self.fails(f"{REPLACE} -n node4 web1", "offline node: node4.example.com")

    def test_policy(self) -> None:
        """A node of another group must admit it, unless that is not to be minded."""
        self.ok("gnt-group add small")
        self.ok("gnt-group assign-nodes --force small node4")
        self.ok("gnt-group modify --ipolicy-disk-templates=file small")
        self.fails(
            f"{REPLACE} -n node4 web1", r"to group \S+ \(small\) violates policy: Disk template drbd is not allowed"
        )
        self.assertIn("ignored, as asked for", self.ok(f"{REPLACE} -n node4 --ignore-ipolicy web1"))
        self.assertEqual({DiskTemplate.DRBD}, {disk.dev_type for disk in self.cluster.config.disks.values()})


class HookTests(ReplaceCase):
    """What scripts are told, and where (reference: hooks.json, mirrors-replace)."""

    def test_told(self) -> None:
        """The master, the primary node, and the new second one, know both second nodes and the way."""
        for node in self.cluster.nodes.values():
            for phase in ("pre", "post"):
                script = self.cluster.paths.hooks_dir / f"mirrors-replace-{phase}.d" / "seen"
                put(node.disk, script, b"#!/bin/sh\n", 0o755)
        self.ok(f"{REPLACE} -n node4 web1")
        found = {
            (node.name.split(".")[0], call.env["GANETI_HOOKS_PHASE"]): call.env
            for node in self.cluster.nodes.values()
            for call in (node.scripts.calls if hasattr(node, "scripts") else ())
            if call.argv[0].endswith("seen")
        }
        self.assertEqual(
            set(found), {(name, phase) for name in ("node1", "node2", "node4") for phase in ("pre", "post")}
        )
        env = found["node2", "pre"]
        self.assertEqual(
            [env[f"GANETI_{name}"] for name in ("MODE", "OLD_SECONDARY", "NEW_SECONDARY", "INSTANCE_SECONDARIES")],
            ["replace_new_secondary", "node3.example.com", "node4.example.com", "node3.example.com"],
        )
        self.assertEqual(found["node2", "post"]["GANETI_POST_INSTANCE_SECONDARIES"], "node4.example.com")

"""Migrations of instances whose disks only their node has, by commands in a whole cluster."""

from collections.abc import Callable

import msgspec

from ganeti_tx.model.migration import DiskCopyProgress
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.rpc.calls.disk_copies import InstanceCopyDisks, InstanceCopyStatus, InstanceOfferDisks
from ganeti_tx.rpc.calls.migration import InstanceFinalizeMigrationDst, InstanceMigrate, InstanceMigrationSide
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says, Trouble

ADD = "gnt-instance add -t file -s 64M -o noop --ignore-ipolicy"


class WithDisksTests(ClusterCase):
    """The disks go along, or nothing is done."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} -n node2 web1")

    def homes(self) -> tuple[str, set[str]]:
        """Where web1 and its disk are said to be; both run and are there, and nowhere else."""
        config = self.cluster.config
        [instance] = [each for each in config.instances.values() if each.name == "web1.example.com"]
        home = config.nodes[instance.primary_node].name
        self.assertEqual(self.cluster.running(), {home: [instance.name]})
        [disk] = [config.disks[uuid] for uuid in instance.disks]
        path = "/".join(map(str, disk.logical_id or ()))
        return home, {node.name for node in self.cluster.nodes.values() if path in node.own_disks()}

    def test_there_and_back(self) -> None:
        """It runs where it was sent to with its disk, and its old node, the only one that is let in, has nothing of it."""
        sources: list[str] = []
        self.cluster.network.fault = lambda node, call: sources.extend(
            [call.source] if isinstance(call, (InstanceOfferDisks, InstanceCopyDisks)) else ()
        )
        said = self.ok("gnt-instance migrate -f --copy-disks -n node3 web1")
        for line in (
            "* copying the disks of instance web1.example.com to node3",
            "- INFO: Removing the disks on the original",
        ):
            self.assertIn(line, said)
        self.assertEqual(self.homes(), ("node3.example.com", {"node3.example.com"}))
        self.assertEqual(sources, [self.cluster.node(2).address] * 2)
        self.ok("gnt-instance migrate -f --non-live --copy-disks -n node2 web1")
        self.assertEqual(self.homes(), ("node2.example.com", {"node2.example.com"}))
        self.assertIn("confirmed to be running", self.ok("gnt-instance migrate -f --cleanup --copy-disks web1"))
        self.assertEqual(self.homes(), ("node2.example.com", {"node2.example.com"}))

    def test_silent(self) -> None:
        """What waits there and does not answer, as a stranger keeps it silent, is ended: nothing was sent to it yet."""

        def fault(node: str, call: object) -> Says | None:
            asked = isinstance(call, InstanceFinalizeMigrationDst) and not call.goes_on_elsewhere
            return Says("nothing came") if asked or isinstance(call, InstanceOfferDisks) else None

        self.cluster.network.fault = fault
        self.fails("gnt-instance migrate -f --copy-disks -n node3 web1", "could not copy the disks .*nothing came")
        self.assertEqual(self.homes(), ("node2.example.com", {"node2.example.com"}))
        self.cluster.network.fault = None
        self.ok("gnt-instance migrate -f --copy-disks -n node3 web1")
        self.assertEqual(self.homes(), ("node3.example.com", {"node3.example.com"}))

    def test_falls_silent(self) -> None:
        """The copy is given up when its new node's machine answers no more, as the guest's writes wait for it.

        A node daemon that is started again meanwhile holds nobody up.
        """
        heard = 0
        wrong: Says | Trouble = Says("nothing came")

        async def half(driver: object, name: str) -> DiskCopyProgress:
            return DiskCopyProgress(whole=heard > 9, copied=1, total=2)

        def fault(node: str, call: object) -> Says | Trouble | None:
            nonlocal heard
            heard += isinstance(call, InstanceMigrationSide)
            return wrong if isinstance(call, InstanceMigrationSide) and heard < 9 else None

        self.patch(FakeHypervisor, "copy_progress", half)
        self.cluster.network.fault = fault
        self.fails("gnt-instance migrate -f --copy-disks -n node3 web1", "could not copy the disks .*nothing came")
        self.assertEqual(self.homes(), ("node2.example.com", {"node2.example.com"}))
        heard, wrong = 0, Trouble.REFUSED
        self.ok("gnt-instance migrate -f --copy-disks -n node3 web1")

    def test_ends_meanwhile(self) -> None:
        """A guest that ends on its old node before it is sent is neither sent nor started: it stays there, as its user left it."""
        node = self.cluster.node(2)
        machine = node.paths.run_dir / "fake-hypervisor" / "web1.example.com"

        def powers_off() -> None:
            told = msgspec.json.decode(node.disk.read(machine, 1 << 20))
            put(node.disk, machine, msgspec.json.encode({**told, "powered_off": True}))

        def ends() -> None:
            node.disk.remove(machine)

        for during, end, why, status in (
            (InstanceCopyStatus, powers_off, "could not copy the disks .*: its guest has shut down", "USER_down"),
            (InstanceMigrate, powers_off, "could not migrate .*: .*its guest has shut down", "USER_down"),
            (InstanceCopyStatus, ends, "could not copy the disks .*: it does not run any more", "ERROR_down"),
        ):

            def fault(name: str, call: object, during: type = during, end: Callable[[], None] = end) -> None:
                if isinstance(call, during):
                    self.cluster.network.fault = None
                    end()

            self.cluster.network.fault = fault
            self.fails("gnt-instance migrate -f --copy-disks -n node3 web1", why)
            self.assertEqual(
                self.ok("gnt-instance list --no-headers -o pnode,status,admin_state web1").split(),
                ["node2.example.com", status, "up"],
            )
            self.assertEqual(disagreements(self.cluster), [])
            self.ok("gnt-instance start --force web1" if status == "ERROR_down" else "gnt-instance reboot web1")
            self.assertEqual(self.homes(), ("node2.example.com", {"node2.example.com"}))

    def test_refused(self) -> None:
        """Impossible requests change nothing."""
        self.ok("gnt-instance add -t sharedfile -s 64M -o noop --ignore-ipolicy -n node2 --no-start web2")
        self.ok("gnt-instance add -t diskless -o noop -n node2 --no-start web3")
        self.ok(f"{ADD} -n node2 --no-start web4")
        before = self.cluster.config
        for words, reason in (
            ("-n node3 web1", "Instance's disk layout 'file' does not allow migrations\n"),
            (
                "--cleanup web1",
                "does not allow migrations; after one with --copy-disks: 'gnt-instance migrate --cleanup --copy-disks ",
            ),
            ("--copy-disks web1", "--copy-disks goes with a target node"),
            ("--copy-disks -I hail web1", "--copy-disks goes with a target node"),
            ("--copy-disks --allow-failover -n node3 web1", "does not go with --allow-failover"),
            ("--copy-disks -n node2 web1", "to its primary"),
            ("--copy-disks -n node3 web2", "not for disk template sharedfile; leave it out"),
            ("--copy-disks -n node3 web4", "not running|marked down"),
        ):
            self.fails(f"gnt-instance migrate -f {words}", reason)
        self.assertEqual(self.cluster.config.instances, before.instances)

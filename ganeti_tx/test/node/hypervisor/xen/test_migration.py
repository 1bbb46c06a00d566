"""Domains that go from one played node to another, both of which keep the contract of migrations."""

from typing import Any, ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationState, Side
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.test.contracts.live_migration import ADDRESS, LiveMigrationContract
from ganeti_tx.test.node.hypervisor.xen.parts import KINDS, PATHS, driver_of, played_node, xen_spec
from ganeti_tx.test.node.hypervisor.xen.world import World


class XenMigrationTests(LiveMigrationContract):
    """Two nodes that reach each other."""

    kind: ClassVar[XenKind] = KINDS[0]
    tells_downtime = False

    async def prepare(self) -> None:
        """See the contract."""
        self.world = World()
        self.nodes = [played_node(self.world), played_node(self.world)]
        self.before = set(self.nodes[0].files.contents())

    def new_drivers(self) -> Any:
        """See the contract."""
        return [driver_of(node, self.kind) for node in self.nodes]

    def remains(self, node: int) -> list[str]:
        """See the contract."""
        files = set(self.nodes[node].files.contents()) - self.before
        left = sorted(str(path) for path in files if path.parent != PATHS.log_xen_dir)
        return left + [each.name for each in self.nodes[node].domains]

    def spec(self) -> InstanceSpec:
        """See the contract."""
        return xen_spec(self.kind)

    def turn(self) -> None:
        """See the contract."""
        self.nodes.reverse()

    async def pause(self) -> None:
        """See the contract."""
        self.world.tick()

    async def test_commands(self) -> None:
        """xl sends through a program that is told both nodes' certificates, and no name of a file that is a secret."""
        await self.accept()
        await self.send()
        (listening,) = [argv for argv in self.nodes[1].calls if argv[0] == "socat"]
        (sending,) = [argv for argv in self.nodes[0].calls if argv[:2] == ["xl", "migrate"]]
        trust = "cert=/n1/var/lib/ganeti/{}.pem,cafile=/n1/var/lib/ganeti/ca.pem,verify=1,openssl-commonname="
        self.assertTrue(
            listening[-2].startswith("OPENSSL-LISTEN:8002,pf=ip4,bind=127.0.0.1,reuseaddr,cert="), listening
        )
        self.assertIn(trust.format("server"), listening[-2])
        self.assertEqual(sending[:5], ["xl", "migrate", "-s", "", "1"])
        self.assertIn(f"OPENSSL:127.0.0.1:8002,connect-timeout=30,no-sni=1,{trust.format('client')}", sending[5])
        self.assertEqual(len(sending), 6)

    async def test_cut_off(self) -> None:
        """Whoever takes a migration back while memory is sent has the instance where it was, and nothing elsewhere."""
        for step in (1, 2):
            await self.accept()
            self.world.stuck_at = step
            await self.old.send(self.instance, ADDRESS, True)
            for _ in range(step):
                self.world.tick()
            self.assertEqual(await self.sides(), [Side.SENDING, Side.INCOMING])
            await self.old.stay_on_source(self.name, False)
            await self.new.refuse(self.name)
            self.assertEqual((await self.sides(), self.remains(1)), ([Side.RUNS, None], []))

    async def test_refused_meanwhile(self) -> None:
        """A node that refuses what comes ends the sending."""
        await self.accept()
        self.world.stuck_at = 1
        await self.old.send(self.instance, ADDRESS, True)
        self.world.tick()
        await self.new.refuse(self.name)
        progress = await self.old.migration_progress(self.name, 60.0)
        self.assertEqual(progress.status, MigrationState.FAILED)
        self.assertIn("Failed to write page data", progress.reason)
        await self.old.stay_on_source(self.name, False)
        self.assertEqual(await self.sides(), [Side.RUNS, None])

    async def test_nobody_waits(self) -> None:
        """What is sent to a node that does not wait for it fails, and runs on."""
        progress = await self.send()
        self.assertEqual(
            (progress.status, progress.reason), (MigrationState.FAILED, "socat[1] E connect(): Connection refused")
        )
        self.assertEqual(await self.sides(), [Side.RUNS, None])

    async def test_port_in_use(self) -> None:
        """A port that somebody else has is named; nothing is left."""
        self.world.listening[8002] = self.nodes[0]
        self.assertIn("port 8002", await self.refused(self.accept()))
        self.assertEqual(self.remains(1), [])

    async def test_no_way_back(self) -> None:
        """What was sent in full is not let go on, also when the other node has gone: it is started again."""
        await self.accept()
        await self.send()
        self.assertIn("start it again", await self.refused(self.old.stay_on_source(self.name, True)))
        self.assertIn("has left something", await self.refused(self.old.start(self.instance, [])))

    async def test_start_of_what_waits(self) -> None:
        """A node that waits for an instance does not start it."""
        await self.accept()
        self.assertIn("has left something", await self.refused(self.new.start(self.instance, [])))

    async def test_paused(self) -> None:
        """A guest that stands still could not get ready."""
        self.nodes[0].domains[0].letters = "--p---"
        await self.accept()
        self.assertIn("paused", await self.refused(self.old.send(self.instance, ADDRESS, True)))

    async def test_bad_address(self) -> None:
        """Only an address gets into a command."""
        info = await self.old.migration_info(self.instance)
        for address in ("node2", "127.0.0.1;reboot", ""):
            self.assertIn("not an IP address", await self.refused(self.new.accept(self.instance, [], info, address)))
            self.assertIn("not an IP address", await self.refused(self.old.send(self.instance, address, True)))

    async def test_bad_info(self) -> None:
        """What another node tells is checked: another instance, other disks, nonsense."""
        info = dict(await self.old.migration_info(self.instance))
        wrong: dict[str, dict[str, Any]] = {
            "of instance x": {"uuid": "x"},
            "runs with disks /d": {"disks": ["/d"]},
            "not understood": {"memory": "y"},
        }
        for why, changes in wrong.items():
            self.assertIn(why, await self.refused(self.new.accept(self.instance, [], {**info, **changes}, ADDRESS)))
            self.assertEqual(self.remains(1), [])


class FullyVirtualMigrationTests(XenMigrationTests):
    """xen-hvm."""

    kind = KINDS[1]

"""What Xen asks for when interfaces of domains come and go, with scripted programs."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.nics.xen_vifs import Vif, XenVifs
from ganeti_tx.runtime.process import NOT_FOUND, ProcessResult
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS
from ganeti_tx.test.node.hypervisor.nics.test_node_ends import EndsCase

#: As Xen 4.17 has it, and where its domain's name is.
PATH, NAME = "backend/vif/7/1", "/local/domain/7/name"
ASKED = {"XENBUS_PATH": PATH, "vif": "vif7.1", "INTERFACE": "vif7.1-emu"}


class XenVifTests(EndsCase):
    """The second interface of a domain."""

    def setUp(self) -> None:
        super().setUp()
        self.vifs = XenVifs(self.files, PATHS, self.runner, self.ends)
        self.runner.script(["xenstore-read", NAME], ProcessResult(stdout=b"web1\n"))
        self.runner.script(["xenstore-write"], ProcessResult())
        self.facts("MODE=bridged\nLINK=br0\nVLAN=.5\n")

    def facts(self, text: str) -> None:
        """What the driver has written of it."""
        directory = PATHS.run_dir / "xen-hypervisor/xen-pvm/web1/nics"
        self.files.mkdir(directory)
        self.done(self.files.write_atomic(directory / "1", text.encode()))

    def written(self) -> list[tuple[str, str]]:
        """What Xen is told, by the last part of its place."""
        return [(argv[1].rpartition("/")[2], argv[2]) for argv in self.runner.commands if argv[0] == "xenstore-write"]

    def test_comes(self) -> None:
        """It is connected as any other, and Xen goes on; also while its domain is still on its way here."""
        for name in (b"web1", b"web1--incoming"):
            self.runner.script(["xenstore-read", NAME], ProcessResult(stdout=name))
            self.runner.calls.clear()
            self.done(self.vifs.comes(Vif.told(["type_if=vif"], ASKED)))
            self.assertIn(["ip", "link", "set", "dev", "vif7.1", "master", "br0"], self.runner.commands)
            self.assertEqual(self.written(), [("hotplug-status", "connected")])

    def test_sent(self) -> None:
        """That of a domain that was sent to another node is disconnected, which has another name by then."""
        self.runner.script(["xenstore-read", NAME], ProcessResult(stdout=b"web1--migratedaway"))
        self.done(self.vifs.goes(Vif.told(["type_if=vif"], ASKED)))

    def test_emulated(self) -> None:
        """That of the machine that emulates devices is connected, too; Xen does not wait for it."""
        self.done(self.vifs.comes(Vif.told(["type_if=tap"], ASKED)))
        self.assertIn(["ip", "link", "set", "dev", "vif7.1-emu", "up"], self.runner.commands)
        self.assertEqual(self.written(), [])

    def test_routed(self) -> None:
        """The route is in the main table; when the interface goes nothing is left."""
        self.facts("MODE=routed\nLINK=rt\nIP=192.0.2.7\n")
        vif = Vif.told([], ASKED)
        self.runner.script(["ip", "-4", "-o", "neigh"], ProcessResult(stdout=b"192.0.2.7 dev eth0 proxy"))
        self.done(self.vifs.comes(vif))
        self.assertIn(["ip", "-4", "route", "replace", "192.0.2.7", "dev", "vif7.1"], self.runner.commands)
        self.done(self.vifs.goes(vif))
        self.assertEqual(self.runner.commands[-1], ["ip", "-4", "neigh", "del", "proxy", "192.0.2.7", "dev", "eth0"])

    def test_fails(self) -> None:
        """Xen is told why, and does not wait."""
        self.runner.script(["ip", "link", "set"], ProcessResult(status=1, stderr=b"no such bridge"))
        self.assertIn("no such bridge", self.why(self.vifs.comes(Vif.told([], ASKED))))
        (error, why), (status, word) = self.written()
        self.assertEqual((error, status, word), ("hotplug-error", "hotplug-status", "error"))
        self.assertIn("no such bridge", why)

    def test_strangers(self) -> None:
        """An interface that is none of ours is not touched; neither does anybody but Xen ask for one."""
        self.runner.script(["xenstore-read", NAME], ProcessResult(stdout=b"../web1"))
        self.assertIn("'../web1' is none of an instance", self.why(self.vifs.goes(Vif.told([], ASKED))))
        for wrong in (
            {},
            {"XENBUS_PATH": PATH},
            {**ASKED, "XENBUS_PATH": "backend/vif"},
            {**ASKED, "XENBUS_PATH": "backend/x/1"},
        ):
            self.assertRaises(HypervisorError, Vif.told, [], wrong)

    def test_no_store(self) -> None:
        """Without Xen there is one line that says so, which is the first thing that goes wrong."""
        for verb in ("read", "write"):
            self.runner.script([f"xenstore-{verb}"], ProcessResult(status=NOT_FOUND, stderr=b"command not found"))
        self.runner.script(["xenstore-read", NAME], ProcessResult(status=NOT_FOUND, stderr=b"not found"))
        for doing in (self.vifs.comes, self.vifs.goes):
            said = self.why(doing(Vif.told([], ASKED)))
            self.assertEqual(said, f"xenstore-read {NAME}: exited with status 127: not found")

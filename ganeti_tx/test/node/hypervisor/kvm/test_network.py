"""How interfaces are connected, with scripted programs."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.node.hypervisor.kvm.network import TUN_DEVICE, Network, TapOptions
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import NIC, PATHS, kvm_spec

SHOW_BRIDGE = ["ip", "-details", "link", "show", "dev", "br0", "type", "bridge"]


class NetworkTests(SynchronousTestCase):
    """A node with one bridge."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        self.write(TUN_DEVICE, b"")
        self.files.mkdir(PATHS.conf_dir)
        self.runner.script(["ip"], ProcessResult())
        self.runner.script(SHOW_BRIDGE, ProcessResult(stdout=b"3: br0: <UP>"))
        self.network = Network(PATHS, self.files, self.runner)

    def write(self, path: Path, data: bytes) -> None:
        """Put a file there."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))

    def plan(self, nic: NicSpec = NIC) -> NicState:
        """How one interface will be connected."""
        (state,) = self.successResultOf(Deferred.fromCoroutine(self.network.plan(kvm_spec([nic]))))
        return state

    def done(self, doing: Coroutine[Any, Any, object]) -> None:
        """Wait for something."""
        self.successResultOf(Deferred.fromCoroutine(doing))

    def script_sysctl(self) -> None:
        """A node whose kernel's settings can be changed."""
        self.runner.script(["sysctl"], ProcessResult())

    def refused(self, nic: NicSpec = NIC) -> str:
        """Why it cannot be."""
        failing = Deferred.fromCoroutine(self.network.plan(kvm_spec([nic])))
        return str(self.failureResultOf(failing, HypervisorError).value)

    def test_bridge(self) -> None:
        """With its bridge there, an interface gets a tap; the one made for trying is removed."""
        state = self.plan()
        self.assertTrue(state.tap.startswith("tap"))
        self.assertLessEqual(len(state.tap), 15)
        made, removed = self.runner.commands[1:]
        self.assertEqual((made[:3], removed[:3]), (["ip", "tuntap", "add"], ["ip", "link", "delete"]))
        self.assertNotEqual(made[4], state.tap)
        self.assertEqual(made[4], removed[4])

    def test_no_bridge(self) -> None:
        """Without its bridge the start is refused, and the bridge is named."""
        self.runner.script(SHOW_BRIDGE, ProcessResult(status=1))
        self.assertIn("bridge br0 is not on this node", self.refused())

    def test_user_mode(self) -> None:
        """Where the administrator allows it, QEMU's own network takes the place of what is missing, closed or open."""
        self.runner.script(SHOW_BRIDGE, ProcessResult(status=1))
        for content, restricted in ((b"", True), (b"open\n", False)):
            self.write(PATHS.conf_dir / "user-mode-network", content)
            state = self.plan()
            self.assertEqual((state.tap, state.restricted), ("", restricted))

    def test_user_mode_only_for_bridges(self) -> None:
        """Other modes do not fall back."""
        self.files.remove(TUN_DEVICE)
        self.write(PATHS.conf_dir / "user-mode-network", b"")
        self.assertIn("/dev/net/tun", self.refused(msgspec.structs.replace(NIC, mode="routed", ip="192.0.2.1")))

    def test_no_right(self) -> None:
        """Without the right to make taps the start is refused with the kernel's reason."""
        self.runner.script(["ip", "tuntap"], ProcessResult(status=1, stderr=b"Operation not permitted"))
        self.assertIn("Operation not permitted", self.refused())

    def test_communication(self) -> None:
        """What keeps a guest to its metadata is tried before, as it is done when a guest that moves runs here already."""
        talk = msgspec.structs.replace(NIC, mode="routed", link="rt", ip="169.254.0.5", communication=True)
        self.runner.script(["tc"], ProcessResult())
        self.assertTrue(self.plan(talk).tap)
        self.runner.script(["tc"], ProcessResult(status=2, stderr=b"Specified qdisc kind is unknown"))
        said = self.refused(talk)
        for word in ("Specified qdisc kind is unknown", "iproute2", "cls_bpf and sch_ingress"):
            self.assertIn(word, said)
        made = [each[4] for each in self.runner.commands if each[:3] == ["ip", "tuntap", "add"]]
        removed = [each[4] for each in self.runner.commands if each[:3] == ["ip", "link", "delete"]]
        self.assertEqual((len(made), removed), (2, made))

    def test_no_program(self) -> None:
        """Without the program ip the error says what to install."""
        self.network = Network(PATHS, self.files, FakeProcessRunner())
        self.assertIn("iproute2", self.refused())

    def test_bad_values(self) -> None:
        """Bad addresses, modes, links and VLANs are refused before anything is run."""
        for bad in ({"mac": "aa"}, {"mode": "x"}, {"link": "-x"}, {"link": "a/b"}, {"vlan": "x"}):
            self.refused(msgspec.structs.replace(NIC, **bad))
        self.assertEqual(self.runner.calls, [])

    def test_connect(self) -> None:
        """A tap is made as asked, put on its bridge, and set up last."""
        state = self.plan()
        self.runner.calls.clear()
        options = TapOptions(vnet_hdr=True, multi_queue=True, owner="61234")
        self.done(self.network.connect([state], options))
        made, _looked, mastered, up = self.runner.commands
        self.assertEqual(made[-4:], ["user", "61234", "vnet_hdr", "multi_queue"])
        self.assertEqual(mastered, ["ip", "link", "set", "dev", state.tap, "master", "br0"])
        self.assertEqual(up[-1], "up")

    def test_release(self) -> None:
        """A tap is removed; one that is not there is no error."""
        state = self.plan()
        self.done(self.network.release([state]))
        self.assertEqual(self.runner.commands[-1], ["ip", "link", "delete", "dev", state.tap])
        self.runner.script(["ip", "link", "show"], ProcessResult(status=1))
        self.runner.calls.clear()
        self.done(self.network.release([state]))
        self.assertEqual(len(self.runner.calls), 1)

    def test_incoming(self) -> None:
        """While a guest runs elsewhere its tap is there, but nothing leads to a routed one until it runs here."""
        routed = self.plan(msgspec.structs.replace(NIC, uuid="n1", mode="routed", link="", ip="192.0.2.1"))
        bridged = self.plan()
        self.script_sysctl()
        self.runner.calls.clear()
        self.done(self.network.connect([routed, bridged], TapOptions(), incoming=True))
        words = [argv[1:3] for argv in self.runner.commands if routed.tap in argv or bridged.tap in argv]
        self.assertEqual(words, [["tuntap", "add"], ["tuntap", "add"], ["link", "set"], ["link", "set"]])
        self.runner.calls.clear()
        self.done(self.network.connect_late([routed, bridged]))
        self.assertIn(["ip", "-4", "route", "replace", "192.0.2.1", "dev", routed.tap], self.runner.commands)
        self.assertFalse([argv for argv in self.runner.commands if bridged.tap in argv])

    def test_before(self) -> None:
        """What an older version connected, of which less is remembered, can be released."""
        for mode in ("bridged", "routed", "openvswitch"):
            self.done(self.network.release([NicState(uuid="n0", mac=NIC.mac, mode=mode, link="x", tap="tap0")]))
            self.assertEqual(self.runner.commands[-1], ["ip", "link", "delete", "dev", "tap0"])

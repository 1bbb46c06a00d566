"""How interfaces are connected, with scripted programs."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model import network
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.node.hypervisor.kvm.network import TUN_DEVICE, Network, TapOptions
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.node.hypervisor.nics.connecting import connect_argvs
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment
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
        self.successResultOf(Deferred.fromCoroutine(self.network.connect(kvm_spec([NIC]), [state], options)))
        made, mastered, up = self.runner.commands
        self.assertEqual(made[-4:], ["user", "61234", "vnet_hdr", "multi_queue"])
        self.assertEqual(mastered, ["ip", "link", "set", "dev", state.tap, "master", "br0"])
        self.assertEqual(up[-1], "up")

    def test_size(self) -> None:
        """A tap takes the size of its bridge's packets before it comes there."""
        self.runner.script(SHOW_BRIDGE, ProcessResult(stdout=b"3: br0: <UP> mtu 9000 qdisc noqueue state UP"))
        state = self.plan()
        self.runner.calls.clear()
        self.successResultOf(Deferred.fromCoroutine(self.network.connect(kvm_spec([NIC]), [state], TapOptions())))
        self.assertEqual(self.runner.commands[1], ["ip", "link", "set", "dev", state.tap, "mtu", "9000"])
        self.assertEqual(self.runner.commands[2][-2:], ["master", "br0"])

    def test_script_of_more(self) -> None:
        """Address and VLAN are told only of an interface that has them."""
        self.assertFalse({"IP", "VLAN"} & script_environment(kvm_spec([NIC]), NIC, 0, "tap0").keys())
        nic = msgspec.structs.replace(NIC, ip="192.0.2.1", vlan=".5")
        told = script_environment(kvm_spec([nic]), nic, 1, "tap0")
        self.assertEqual((told["IP"], told["VLAN"], told["INTERFACE_INDEX"]), ("192.0.2.1", ".5", "1"))

    def test_script(self) -> None:
        """An administrator's script takes the place of our commands; its failure is told with its words."""
        script = PATHS.conf_dir / "kvm-vif-bridge"
        self.write(script, b"")
        self.runner.script([str(script)], ProcessResult(status=3, stderr=b"no such zone"))
        connecting = self.network.connect(kvm_spec([NIC]), [self.plan()], TapOptions())
        failure = self.failureResultOf(Deferred.fromCoroutine(connecting), HypervisorError)
        self.assertIn("no such zone", str(failure.value))
        self.assertEqual(self.runner.calls[-1].env["BRIDGE"], "br0")

    def test_script_of_network(self) -> None:
        """Such a script is told of the interface's network; that there is one shows by NETWORK."""
        script = PATHS.conf_dir / "kvm-vif-bridge"
        self.write(script, b"")
        self.runner.script([str(script)], ProcessResult())
        lan = network.Network(
            serial_no=1, uuid="lan-uuid", name="lan", network="10.5.0.0/28", gateway="10.5.0.1", tags=("a", "b")
        )
        for nic in (NIC, msgspec.structs.replace(NIC, netinfo=lan.netinfo())):
            self.successResultOf(
                Deferred.fromCoroutine(self.network.connect(kvm_spec([nic]), [self.plan()], TapOptions()))
            )
        told = [
            {name: value for name, value in call.env.items() if name.startswith("NETWORK")}
            for call in self.runner.calls
            if call.argv == (str(script),)
        ]
        of_lan = {
            "NETWORK": "lan",
            "NETWORK_NAME": "lan",
            "NETWORK_UUID": "lan-uuid",
            "NETWORK_SUBNET": "10.5.0.0/28",
            "NETWORK_GATEWAY": "10.5.0.1",
            "NETWORK_TAGS": "a b",
        }
        self.assertEqual(told, [{}, of_lan])

    def test_release(self) -> None:
        """A tap is removed; one that is not there is no error."""
        state = self.plan()
        self.successResultOf(Deferred.fromCoroutine(self.network.release([state])))
        self.assertEqual(self.runner.commands[-1], ["ip", "link", "delete", "dev", state.tap])
        self.runner.script(["ip", "link", "show"], ProcessResult(status=1))
        self.runner.calls.clear()
        self.successResultOf(Deferred.fromCoroutine(self.network.release([state])))
        self.assertEqual(len(self.runner.calls), 1)

    def test_routed(self) -> None:
        """A routed interface needs an address, and gets a route to it."""
        routed = msgspec.structs.replace(NIC, mode="routed", link="100")
        self.assertRaises(HypervisorError, connect_argvs, routed, "tap0")
        argv = connect_argvs(msgspec.structs.replace(routed, ip="192.0.2.1"), "tap0")[-1]
        self.assertEqual(argv[-2:], ["table", "100"])

"""What is done to connect interfaces, with scripted programs: scripts of administrators, sizes, checks."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.network import Network
from ganeti_tx.node.hypervisor.nics.names import interface_name
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd, script_environment
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
from ganeti_tx.runtime.process import CLEAN_ENV, ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import MAC, NAME, NIC, PATHS, kvm_spec

BRIDGE = b"3: br0: <UP> mtu 9000 qdisc noqueue state UP bridge vlan_filtering 1 vlan_default_pvid 7 "
LAN = Network(serial_no=1, uuid="lan-uuid", name="lan", network="10.5.0.0/28", gateway="10.5.0.1", tags=("a", "b"))
TALK = msgspec.structs.replace(NIC, mode="routed", link="rt", ip="169.254.0.5", communication=True)


def end_of(nic: NicSpec, number: int = 0) -> NodeEnd:
    """As a driver has it."""
    spec = msgspec.structs.replace(kvm_spec([nic]), tags=["red", "blue"])
    return NodeEnd(script_environment(spec, nic, number, "tap0"))


class EndsCase(SynchronousTestCase):
    """A node with a bridge that keeps VLANs apart."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        self.files.mkdir(PATHS.conf_dir)
        for program in ("ip", "bridge", "sysctl", "tc"):
            self.runner.script([program], ProcessResult())
        self.runner.script(["ip", "-details", "link", "show", "dev", "br0"], ProcessResult(stdout=BRIDGE))
        self.ends = NodeEnds(self.runner, UserScripts(self.files, PATHS, "kvm"))

    def script(self, name: str, mode: int = 0o755, answer: ProcessResult | None = None) -> str:
        """Have a script of the administrator's; its path."""
        path = PATHS.conf_dir / name
        self.done(self.files.write_atomic(path, b"", mode))
        self.runner.script([str(path)], answer or ProcessResult())
        return str(path)

    def done(self, doing: Coroutine[Any, Any, object]) -> None:
        """Wait for something."""
        self.successResultOf(Deferred.fromCoroutine(doing))

    def why(self, doing: Coroutine[Any, Any, object]) -> str:
        """Why it fails."""
        return str(self.failureResultOf(Deferred.fromCoroutine(doing), HypervisorError).value)


class BridgeTests(EndsCase):
    """Interfaces on bridges."""

    def test_connected(self) -> None:
        """It takes the size of its bridge's packets before it comes there, leaves the bridge's own VLAN, and is set up last."""
        self.done(self.ends.connect(end_of(msgspec.structs.replace(NIC, vlan=".5"))))
        _looked, size, master, left, joined, up = self.runner.commands
        self.assertEqual(size[2:], ["set", "dev", "tap0", "mtu", "9000"])
        self.assertEqual(master[-2:], ["master", "br0"])
        self.assertEqual(left, ["bridge", "vlan", "del", "dev", "tap0", "vid", "7"])
        self.assertEqual(joined[-4:], ["vid", "5", "pvid", "untagged"])
        self.assertEqual(up[-1], "up")

    def test_refused(self) -> None:
        """What cannot be is said with what to do, before anything is changed; VLANs want a bridge that keeps them apart."""
        self.done(self.ends.check(msgspec.structs.replace(NIC, vlan=":5:6")))
        self.runner.script(["ip", "-details"], ProcessResult(stdout=b"4: br1: <UP> vlan_filtering 0 "))
        self.runner.script(["ip", "rule", "show", "table", "blue"], ProcessResult(status=255))
        for changed, words in (
            ({"link": "br1", "vlan": "5"}, "'ip link set dev br1 type bridge vlan_filtering 1' has it do so"),
            ({"mode": "routed", "link": "100"}, "needs an IP address"),
            ({"mode": "routed", "link": "blue", "ip": "192.0.2.1"}, "/etc/iproute2/rt_tables"),
            ({"mode": "routed", "link": "-x", "ip": "192.0.2.1"}, "'-x'"),
            ({"mode": "openvswitch", "link": "sw1"}, "install openvswitch-switch"),
            ({"mode": "openvswitch", "link": "-x"}, "'-x'"),
            ({"mode": "bent"}, "none of bridged, openvswitch, routed"),
            ({"mac": "aa"}, "not a MAC address: 'aa'"),
        ):
            self.assertIn(words, self.why(self.ends.check(msgspec.structs.replace(NIC, **changed))))
        self.done(self.ends.check(msgspec.structs.replace(NIC, mode="routed", link="", ip="192.0.2.1")))
        self.assertFalse([argv for argv in self.runner.commands if "set" in argv])

    def test_switch_that_does_not_answer(self) -> None:
        """No answer is no missing switch; a guest whose interface was there cannot be said to have left it."""
        self.runner.script(["ovs-vsctl"], ProcessResult(status=1, stderr=b"database connection failed"))
        nic = msgspec.structs.replace(NIC, mode="openvswitch", link="sw1")
        self.assertIn("database connection failed", self.why(self.ends.check(nic)))
        self.assertIn("database connection failed", self.why(self.ends.disconnect(end_of(nic), STOP)))


class ScriptTests(EndsCase):
    """Scripts of the administrator's."""

    def test_environment(self) -> None:
        """All that is known of an interface, its instance and its network; what there is not is not told."""
        plain = end_of(NIC).environment
        self.assertEqual(
            plain,
            {
                "INSTANCE": NAME,
                "INTERFACE": "tap0",
                "MAC": MAC,
                "MODE": "bridged",
                "LINK": "br0",
                "BRIDGE": "br0",
                "TAGS": "red blue",
                "INTERFACE_INDEX": "0",
                "INTERFACE_NAME": "",
                "INTERFACE_UUID": "n0",
            },
        )
        more = msgspec.structs.replace(NIC, ip="10.5.0.2", vlan=".5", name="front", netinfo=LAN.netinfo())
        told = end_of(more, 1).environment
        self.assertEqual(
            told.items() - plain.items(),
            {
                "IP": "10.5.0.2",
                "VLAN": ".5",
                "INTERFACE_INDEX": "1",
                "INTERFACE_NAME": "front",
                "NETWORK": "lan",
                "NETWORK_NAME": "lan",
                "NETWORK_UUID": "lan-uuid",
                "NETWORK_SUBNET": "10.5.0.0/28",
                "NETWORK_GATEWAY": "10.5.0.1",
                "NETWORK_TAGS": "a b",
            }.items(),
        )

    def test_in_our_place(self) -> None:
        """One that can be executed takes the place of our commands; its failure is told with its words."""
        self.script("kvm-vif-bridge", 0o644)
        self.done(self.ends.connect(end_of(NIC)))
        self.assertEqual(self.runner.commands[-1][0], "ip")
        for name in ("kvm-ifup-custom", "kvm-vif-bridge"):  # of which the second is asked first
            path = self.script(name, answer=ProcessResult(status=3, stderr=b"no such zone"))
            self.assertIn("no such zone", self.why(self.ends.connect(end_of(NIC))))
            self.assertEqual(self.runner.commands[-1], [path, "tap0"])
            self.assertEqual(self.runner.calls[-1].env, {**CLEAN_ENV, **end_of(NIC).environment})

    def test_its_own_business(self) -> None:
        """What a link other than a bridge means is such a script's business, so it is not looked for."""
        self.script("kvm-vif-bridge")
        self.done(self.ends.check(msgspec.structs.replace(NIC, mode="openvswitch", link="any")))
        self.runner.script(["ip", "-details"], ProcessResult(status=1))
        self.assertIn("br9", self.why(self.ends.check(msgspec.structs.replace(NIC, link="br9"))))

    def test_down(self) -> None:
        """One is told that an interface goes, and of what occasion; its failure keeps nobody from stopping an instance."""
        path = self.script("kvm-ifdown-custom", answer=ProcessResult(status=1))
        self.done(self.ends.disconnect(end_of(NIC), STOP))
        self.assertEqual(self.runner.commands, [[path, "tap0", "stop"]])
        self.assertNotIn("TAGS", self.runner.calls[0].env)
        self.assertEqual(self.runner.calls[0].env["INSTANCE"], NAME)
        self.flushLoggedErrors()


class CommunicationTests(EndsCase):
    """Interfaces by which instances talk to their node."""

    def test_connected(self) -> None:
        """They are no business of such a script, nor of the routing table; another one is run when all is done."""
        self.script("kvm-vif-bridge")
        path = self.script("kvm-ifup-os")
        self.runner.script(["ip", "rule"], ProcessResult(status=255))
        self.done(self.ends.check(TALK))
        self.done(self.ends.connect(end_of(TALK)))
        self.assertEqual(self.runner.commands[-1], [path, "tap0"])
        self.assertIn(
            ["ip", "-4", "route", "replace", "169.254.0.5", "dev", "tap0", "src", "169.254.169.254"],
            self.runner.commands,
        )
        self.assertEqual(self.runner.calls[-1].env["COMMUNICATION"], "yes")

    def test_cut_off(self) -> None:
        """Whoever could not see which rules there are does not say that none is left."""
        for cut_off in (ProcessResult(status=None, signal=9), ProcessResult(status=None, timed_out=True)):
            self.runner.script(["ip", "-4", "-o", "rule", "show"], cut_off)
            self.assertIn("rule show iif tap0", self.why(self.ends.disconnect(end_of(TALK), STOP)))

    def test_without_address(self) -> None:
        """Without an address nobody would know who asks."""
        self.assertIn("needs an IP address", self.why(self.ends.check(msgspec.structs.replace(TALK, ip=None))))

    def test_name(self) -> None:
        """They are known by their names, which the kernel takes, and of which there is one for each interface."""
        other = msgspec.structs.replace(TALK, uuid="n1")
        names = {interface_name(Path(root), nic, "tap") for root in ("/", "/n2") for nic in (TALK, other, NIC)}
        self.assertEqual(len(names), 6)
        self.assertEqual(len([name for name in names if name.startswith("gnt.com.")]), 4)
        self.assertEqual(max(map(len, names)), 15)

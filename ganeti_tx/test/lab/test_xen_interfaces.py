"""Interfaces under a real Xen: a guest gets an answer through each kind of them, by Xen's scripts and by ours."""

from ganeti_tx.test.lab.network import OUTSIDE, address
from ganeti_tx.test.lab.ready_vifs import SCRIPT
from ganeti_tx.test.lab.xen_case import KERNEL_ARGS, XenCase

#: The guest's address in the machines' own network, and in one that is only behind VLAN 5 of the first machine's bridge.
OWN, TAGGED = "10.99.0.77", "10.98.0.77"
TAGGED_NODE = "10.98.0.1"
METADATA = "169.254.169.254"
COMMUNICATION = "gnt.com"
#: A script of the administrator's, which connects the interface itself, and keeps what it was told.
TOLD = "/root/told"
CUSTOM = "/etc/ganeti/xen-ifup-custom"
CONNECT = f"""#!/bin/sh
env > {TOLD}
ip link set dev "$1" master "$BRIDGE" up
"""
#: And one that cannot.
FAIL = """#!/bin/sh
echo no cable is left >&2
exit 1
"""
#: What the document says that it is told of an interface with an address that is in no network.
VARIABLES = {
    *(
        "INTERFACE",
        "INSTANCE",
        "MAC",
        "MODE",
        "LINK",
        "BRIDGE",
        "IP",
        "INTERFACE_INDEX",
        "INTERFACE_NAME",
        "INTERFACE_UUID",
    ),
    "TAGS",
}


class InterfaceTests(XenCase):
    """An instance without disks, whose interface is another one each time."""

    name = "net1.lab.example"

    def setUp(self) -> None:
        """The instance."""
        super().setUp()
        self.bring_up()
        self.here.run("sysctl -q net.ipv4.ip_forward=1")
        self.add("diskless")

    def answered(self, own: str, asked: str, nic: str) -> str:
        """The interface of the guest, once that got an answer from an address through it."""
        self.instance("modify", "--net", nic, "-H", f"kernel_args={KERNEL_ARGS} address={own} ask={asked}")
        self.begins(self.here, "startup")
        self.says(self.here, lambda said: f"answer {asked}\n" in said)
        return f"vif{self.domain(self.here)}.0"

    def stopped(self, interface: str) -> None:
        """Nothing of it is left on the node."""
        self.instance("shutdown")
        for shown in (
            "ip link show",
            "ip route show table all",
            "ip rule show",
            "ip neigh show proxy",
            "bridge vlan show",
        ):
            said = self.here.run(shown)
            self.assertNotIn(interface, said)
            self.assertNotIn(OWN, said)

    def by_ours(self) -> None:
        """The instance's interfaces are connected as those of others are."""
        self.instance("modify", "-H", f"vif_script={SCRIPT}")

    def with_custom(self, script: str) -> None:
        """The administrator's script on the node."""
        self.here.run(f"cat > {CUSTOM} && chmod 755 {CUSTOM}", text=script)
        self.addCleanup(self.here.run, f"rm -f {CUSTOM} {TOLD}")

    def test_bridge(self) -> None:
        """Xen's own script makes it a port of the bridge."""
        vif = self.answered(f"{OWN}/24", address(OUTSIDE), "add:link=br0")
        self.assertIn("master br0", self.here.run(f"ip link show dev {vif}"))
        self.stopped(vif)

    def test_our_bridge(self) -> None:
        """Our script makes it a port of the bridge in its VLAN."""
        self.by_ours()
        vlan = (
            "ip link add link br0 name br0.5 type vlan id 5 && ip address add {}/24 dev br0.5 && ip link set br0.5 up"
        )
        self.here.run("ip link set dev br0 type bridge vlan_filtering 1 && bridge vlan add dev br0 vid 5 self")
        self.addCleanup(self.here.run, "ip link del br0.5; ip link set dev br0 type bridge vlan_filtering 0")
        self.here.run(vlan.format(TAGGED_NODE))
        vif = self.answered(f"{TAGGED}/24", TAGGED_NODE, "add:link=br0,vlan=.5")
        self.assertIn("5 PVID Egress Untagged", self.here.run(f"bridge vlan show dev {vif}"))
        self.stopped(vif)

    def test_our_route(self) -> None:
        """Our script has the node answer for it, so that the guest reaches others, and they the guest."""
        self.by_ours()
        vif = self.answered(f"{OWN}/24", address(OUTSIDE), f"add:mode=routed,link=,ip={OWN}")
        self.assertIn(f"dev {vif}", self.here.run(f"ip route get {OWN}"))
        self.stopped(vif)

    def test_custom(self) -> None:
        """A script of the administrator's is run in the place of ours, with the environment that the document tells of."""
        self.by_ours()
        self.with_custom(CONNECT)
        vif = self.answered(f"{OWN}/24", address(OUTSIDE), f"add:link=br0,ip={OWN}")
        told = dict(line.split("=", 1) for line in self.here.run(f"cat {TOLD}").splitlines() if "=" in line)
        self.assertEqual(VARIABLES - set(told), set())
        shown = {name: told[name] for name in ("INTERFACE", "INSTANCE", "MODE", "LINK", "BRIDGE", "IP")}
        wanted = {"MODE": "bridged", "LINK": "br0", "BRIDGE": "br0", "IP": OWN}
        self.assertEqual(shown, {"INTERFACE": vif, "INSTANCE": self.name, **wanted})
        self.stopped(vif)

    def test_failing(self) -> None:
        """The last line of a script that fails is told, and nothing of the domain is left."""
        self.by_ours()
        self.with_custom(FAIL)
        self.instance("modify", "--net", "add:link=br0")
        ended = self.cluster.run("gnt-instance", "startup", self.name)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("no cable is left", ended.stderr)
        self.assertNotIn(self.name, self.here.run("xl list"))

    def test_communication(self) -> None:
        """An interface for communication reaches the node at the address of its metadata."""
        self.by_ours()
        self.cluster.ok("gnt-cluster", "modify", f"--instance-communication-network={COMMUNICATION}")
        self.addCleanup(self.forget_communication)
        self.instance("modify", "--communication=yes")
        own = self.fields("nic.ips")[0].strip("'[]")
        self.instance("modify", "-H", f"kernel_args={KERNEL_ARGS} address={own}/16 ask={METADATA}")
        self.begins(self.here, "startup")
        self.says(self.here, lambda said: f"answer {METADATA}\n" in said)
        vif = f"vif{self.domain(self.here)}.0"
        self.assertIn(METADATA, self.here.run(f"ip address show dev {vif}"))
        self.stopped(vif)

    def forget_communication(self) -> None:
        """The cluster is as it was."""
        self.instance("modify", "--communication=no")
        self.cluster.ok("gnt-cluster", "modify", "--instance-communication-network=")

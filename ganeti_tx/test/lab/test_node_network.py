"""Interfaces by the kernel's vhost with many queues, on the kernel's Open vSwitch, of a guest in huge pages."""

import re

from ganeti_tx.test.lab.on_node import COMMON, NodeCase
from ganeti_tx.test.lab.packages import add_packages, send

NAME = "queues.lab.example"
KERNEL, INITRD = "/root/sent/vmlinux", "/root/sent/initrd.img"
SWITCH, QUEUES = "sw1", 2
#: MiB of the guest, in pages of 2 MiB.
MEMORY, HUGE_PAGES, HUGE = 128, 80, "/dev/hugepages"
PARAMETERS = (
    f"kvm:kernel_path={KERNEL},initrd_path={INITRD},root_path=/dev/vda,serial_console=true,"
    f"vhost_net=true,virtio_net_queues={QUEUES},mem_path={HUGE}"
)
NICS = ["--net", f"0:mode=openvswitch,link={SWITCH},vlan=.5:10:20", "--net", "1:mode=bridged,link=br0"]
#: The node's own ports of the switch, in the VLANs 5 and 10.
PORTS = f"""
ovs-vsctl --may-exist add-br {SWITCH}
for vlan in 5 10; do
    ovs-vsctl --may-exist add-port {SWITCH} vlan$vlan tag=$vlan -- set interface vlan$vlan type=internal
    ip link set vlan$vlan up; ip addr replace 192.0.$vlan.1/24 dev vlan$vlan
done
"""
UP = "ganeti_tx guest without a root disk is up"
SERIAL = f"/run/ganeti/kvm-hypervisor/ctrl/{NAME}.serial"
SAID, TYPED = "/run/said.log", "/run/typed.log"
#: What is written at the end of a file is typed at the guest's console.
TALK = (
    f": > {TYPED}; setsid sh -c 'tail -f {TYPED} | socat - UNIX-CONNECT:{SERIAL}' > {SAID} 2> /dev/null < /dev/null &"
)


class NetworkTests(NodeCase):
    """One guest with two interfaces, and a third that comes and goes."""

    def test_queues(self) -> None:
        """They are as they were asked for in the node and in the guest, carry what is sent, and leave nothing."""
        self.prepare()
        add = ["gnt-instance", "add", "-t", "diskless", "-o", "noop", "--no-install", *COMMON, *NICS]
        size = f"minmem={MEMORY},maxmem={MEMORY},vcpus={QUEUES}"
        self.ok(*add, "-H", PARAMETERS, "-B", size, "--ignore-ipolicy", NAME)
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", "--shutdown-timeout", "0", NAME)
        self.ok("gnt-instance", "startup", NAME)
        self.machine.run(TALK)
        self.node_has(interfaces=2)
        self.assertEqual(self.free_pages(), HUGE_PAGES - MEMORY // 2)
        (port,) = self.ports()
        settings = self.machine.run(f"ovs-vsctl get port {port} tag trunks vlan_mode").split("\n")
        self.assertEqual(settings[:3], ["5", "[10, 20]", "native-untagged"])
        self.until(lambda: UP in self.said(), "the guest is up")
        self.guest_has(interfaces=2)
        self.reached()
        self.ok("gnt-instance", "modify", "--hotplug", "--net", f"add:mode=openvswitch,link={SWITCH},vlan=.10", NAME)
        self.node_has(interfaces=3)
        self.guest_has(interfaces=3)
        self.ok("gnt-instance", "modify", "--hotplug", "--net", "2:remove", NAME)
        self.node_has(interfaces=2)
        self.ok("gnt-instance", "shutdown", NAME)
        self.node_has(interfaces=0)
        self.assertEqual((self.ports(), self.free_pages()), ([], HUGE_PAGES))

    def prepare(self) -> None:
        """The switch, the kernel's modules, pages, and what the guest is booted with."""
        if self.machine.ended("command -v ovs-vsctl").returncode != 0:
            add_packages(self.machine, "openvswitch-switch")
        self.machine.run(f"modprobe vhost_net; echo {HUGE_PAGES} > /proc/sys/vm/nr_hugepages")
        self.machine.run(f"systemctl start openvswitch-switch; {PORTS}", limit=300.0)
        self.assertIn("system@ovs-system", self.machine.run("ovs-appctl dpif/show"))
        send(self.machine, *(self.machine.image.directory / name for name in ("vmlinux", "initrd.img")))

    def node_has(self, interfaces: int) -> None:
        """A thread of vhost for each queue of each interface."""
        threads = self.machine.ended("pgrep -c '^vhost-'").stdout.strip()
        self.assertEqual(threads, str(interfaces * QUEUES))

    def guest_has(self, interfaces: int) -> None:
        """As many queues as its node, as the guest sees it; the node's end has them in use since the guest's driver is there."""
        wanted = interfaces * QUEUES  # an interface that was plugged in comes when the guest gets to it
        count = "$(ls -d /sys/class/net/eth*/queues/rx-* | grep -c .)"
        self.ask(f"until [ {count} = {wanted} ]; do sleep 1; done; echo q=$(({wanted}))", f"q={wanted}")
        queues = self.machine.ended("ls -d /sys/class/net/tap*/queues/rx-*").stdout.split()
        self.assertEqual(len(queues), interfaces * QUEUES, queues)

    def reached(self) -> None:
        """The guest and its node reach each other by both interfaces, and what is of another VLAN comes tagged to the guest."""
        self.ask("ip link set eth1 up; ip addr add 10.99.0.77/24 dev eth1; ping -c 2 10.99.0.1", " 0% packet loss")
        self.ask("ip link set eth0 up; ip addr add 192.0.5.2/24 dev eth0; ping -c 2 192.0.5.1", " 0% packet loss")
        for address in ("10.99.0.77", "192.0.5.2"):
            self.assertIn(" 0% packet loss", self.machine.run(f"ping -c 2 -W 20 {address}"))
        self.machine.ended("ping -c 1 -W 1 192.0.10.2")  # nobody there answers
        self.assertRegex(self.machine.run("ovs-appctl dpctl/dump-flows"), r"192\.0\.10\.2.*push_vlan\(vid=10")

    def ask(self, line: str, answer: str) -> None:
        """Type a line in the guest, and wait for what it says to it."""
        before = len(self.said())
        self.machine.run(f"printf '\\n%s\\n' '{line}' >> {TYPED}")
        self.until(lambda: re.search(answer, self.said()[before:]) is not None, f"'{line}' is answered by '{answer}'")

    def said(self) -> str:
        """All that the guest has said on its console."""
        return self.machine.ended(f"cat {SAID}").stdout

    def ports(self) -> list[str]:
        """Those of the switch that are instances'."""
        return [port for port in self.machine.run(f"ovs-vsctl list-ports {SWITCH}").split() if port.startswith("tap")]

    def free_pages(self) -> int:
        """Of the huge ones."""
        return int(self.machine.run("grep HugePages_Free /proc/meminfo").split()[1])

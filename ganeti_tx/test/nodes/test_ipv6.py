"""A cluster whose nodes have IPv6 primary and IPv4 secondary addresses; on their first network nobody has IPv4."""

import json

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase
from ganeti_tx.test.real.guest import make_guest

SHARED = "/srv/shared/disks"
INIT = (
    "gnt-cluster init --master-netdev eth0 --nic-parameters link=br0 --enabled-disk-templates sharedfile "
    f"--shared-file-storage-dir {SHARED} --enabled-hypervisors kvm -H kvm:kernel_path=/srv/shared/vmlinux,"
    "initrd_path=/srv/shared/initrd.img,kernel_args=console=ttyS0,root_path=/dev/vda,serial_console=false,"
    "vnc_bind_address=eth0 --primary-ip-version {} cluster.example.com"
)
ADD = (
    "gnt-instance add -t sharedfile --disk 0:size=64M -n node2.example.com -o busybox+default -B memory=128 "
    "--net 0:link=br0,ip=auto --ignore-ipolicy web1.example.com"
)
#: As the nodes' first network has it.
MASTER_IP = "2001:db8::fe"
#: What begins connections to other nodes' daemons, by the address that it has here.
CALLERS = "ss --no-header --tcp --numeric state established '( dport = :1811 )' | awk '{print $3}'"
#: Who listens where, besides sshd.
LISTENERS = "ss --no-header --listening --tcp --udp --numeric --processes | grep ganeti- | awk '{print $5}'"


class Version6Tests(SystemdClusterCase):
    """Three nodes, whose names have addresses of both families, as on a machine with both."""

    ip_version = "6"

    def setUp(self) -> None:
        """They have a directory in common for disks."""
        super().setUp()
        for node in self.nodes.numbers:
            self.run_on(node, f"mkdir -p {SHARED} && echo {SHARED} >> /etc/ganeti/file-storage-paths")

    async def test_cluster(self) -> None:
        """Everything goes by the primary addresses, and by the secondary ones what goes by them elsewhere."""
        guest = await make_guest()
        for name in ("vmlinux", "initrd.img"):
            (self.nodes.state / "shared" / name).write_bytes((guest / name).read_bytes())
        self.make_cluster()
        self.use_instance()
        self.check_services(master=1)
        self.run_on(2, f"ping -6 -c 1 -W 10 {MASTER_IP}")
        self.assertIn("02:00:00:00:00:01", self.neighbour_of_master())

        self.run_on(3, "gnt-cluster master-failover")
        self.check_units(master=3)
        self.assertIn("02:00:00:00:00:03", self.neighbour_of_master())
        self.assertNotIn(MASTER_IP, self.run_on(1, "ip -6 address show dev eth0"))
        self.check_services(master=3)
        self.run_on(3, "gnt-cluster modify --master-netmask 64")
        self.assertIn(f"{MASTER_IP}/64", self.run_on(3, "ip -6 address show dev eth0"))
        self.run_on(3, "gnt-node add --readd node2.example.com")
        self.verify(3)
        self.run_on(3, "gnt-instance remove -f --shutdown-timeout=0 web1.example.com")
        self.assertEqual([self.nodes.failed_units(node) for node in self.nodes.numbers], [[], [], []])

    def make_cluster(self) -> None:
        """With what is refused on the way, which leaves nothing behind."""
        for command, why in (
            (INIT.format("6"), "needs an IPv4 secondary address"),
            (INIT.format("6 -s 2001:db8::11"), "2001:db8::11 is an IPv6 address, but secondary addresses are IPv4"),
            (INIT.format("6 -s 198.51.100.11").replace("cluster.", "elsewhere."), "no IPv6 address is known"),
            (INIT.format("5"), "invalid version '5': give 4 or 6"),
        ):
            self.assertIn(why, self.run_on(1, command, status=1))
            self.check_nothing_runs(1)
        self.run_on(1, INIT.format("6 -s 198.51.100.11"))
        self.assertIn("needs an IPv4 secondary", self.run_on(1, "gnt-node add node2.example.com", status=1))
        self.add_nodes()
        self.check_units(master=1)
        rows = self.run_on(1, "gnt-node list --no-headers -o pip,sip").split()
        self.assertEqual(rows, [word for node in (1, 2, 3) for word in (f"2001:db8::1{node}", f"198.51.100.1{node}")])
        self.verify(1)

    def use_instance(self) -> None:
        """It runs, and is moved while it runs; its display is at its node's IPv6 address."""
        self.run_on(1, ADD)
        self.check_status(1, "running")
        self.assertIn("vnc://[2001:db8::12]:", self.run_on(1, "gnt-instance console web1.example.com"))
        self.run_on(1, "gnt-instance migrate -f -n node3.example.com web1.example.com")
        self.check_status(1, "running")
        self.assertIn("vnc://[2001:db8::13]:", self.run_on(1, "gnt-instance console web1.example.com"))
        self.assertIn("2001:db8::101", self.run_on(1, "gnt-instance list --no-headers -o nic.ips web1.example.com"))

    def check_services(self, master: int) -> None:
        """From another node; the master's own connections come from its own address, which stays where it is."""
        cluster = "curl -6 --silent --fail --max-time 30 --cacert /var/lib/ganeti/rapi.pem https://cluster.example.com"
        listed = json.loads(self.run_on(2, f"{cluster}:5080/2/nodes"))
        self.assertEqual([each["id"] for each in listed], [f"node{node}.example.com" for node in (1, 2, 3)])
        told = self.run_on(
            2, f"curl -6 --silent --fail --max-time 30 http://node{master}.example.com:1815/1/report/all"
        )
        self.assertIn("cpu-avg-load", told)
        self.assertEqual(
            self.run_on(2, f"ganeti-confd-client --addr node{master}.example.com master").split(),
            [f"node{master}.example.com", MASTER_IP, f"2001:db8::1{master}"],
        )
        self.assertEqual(
            self.run_on(2, "ganeti-confd-client node-ips").split(), [f"2001:db8::1{node}" for node in (1, 2, 3)]
        )
        self.assertIn(f"node{master}", self.run_on(2, f"ssh -6 node{master}.example.com hostname"))
        callers = {line.rpartition(":")[0] for line in self.run_on(master, CALLERS).split()}
        self.assertEqual(callers, {f"[2001:db8::1{master}]"})
        listeners = set(self.run_on(master, LISTENERS).split())
        self.assertLessEqual({f"[2001:db8::1{master}]:{port}" for port in (1811, 1814, 1815)} | {"*:5080"}, listeners)

    def neighbour_of_master(self) -> str:
        """Which card has the cluster's address, as the second node knows without asking."""
        return self.run_on(2, f"ip -6 neighbour show {MASTER_IP}")

    def verify(self, master: int) -> None:
        """Nothing is an error."""
        self.assertNotIn("ERROR", self.run_on(master, "gnt-cluster verify"))

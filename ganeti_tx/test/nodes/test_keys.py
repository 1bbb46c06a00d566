"""Keys are replaced, the cluster gets another name and address, and is destroyed: on nodes with systemd, users and ssh."""

from typing import ClassVar

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase

#: What the set of nodes came with: a key of root's that all share.
OWN = "rm -f /root/.ssh/id_ed25519* && sed -i '/ root$/d' /root/.ssh/authorized_keys"
SSH = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oUserKnownHostsFile=/var/lib/ganeti/known_hosts"
#: Every file of the cluster's with its owner and mode.
OWNERS = (
    "cd /var/lib/ganeti && stat -c '%n %U:%G %a' ca.* client.pem server.pem hmac.key hmac-accepted rapi.pem spice*.pem"
)
#: All that is where the cluster's files are, logs left out, which stay.
LEFT = (
    "find /var/lib/ganeti /run/ganeti* /srv/ganeti/file-storage /root/.ssh /etc/ganeti -not -type d 2>/dev/null | sort; "
    "grep -c ganeti_tx /root/.ssh/authorized_keys; ip -o addr show dev eth0 | awk '{print $4}'"
)


class KeysTests(SystemdClusterCase):
    """Two nodes, whose roots reach each other by the cluster's keys only."""

    count: ClassVar[int] = 2

    def setUp(self) -> None:
        super().setUp()
        self.before = {node: self.run_on(node, LEFT, status=None).splitlines() for node in self.nodes.numbers}

    def begin(self) -> None:
        """Make the cluster."""
        self.init()
        self.add_nodes()
        for node in self.nodes.numbers:
            self.run_on(node, OWN)

    def check_ssh(self) -> None:
        """Each root reaches the other."""
        for one, other in ((1, 2), (2, 1)):
            self.assertEqual(self.run_on(one, f"{SSH} node{other}.example.com hostname").strip()[:5], f"node{other}")

    def check_files(self) -> None:
        """A file goes to the other node as it is; what is listed, and what the Remote API reads, goes with the configuration."""
        copied, listed, users = "'/root/copy me'", "/srv/scripts/up", "/var/lib/ganeti/rapi/users"
        self.run_on(1, f"echo new > {copied} && chmod 640 {copied} && touch -d @1700000000 {copied}")
        self.run_on(2, f"echo old > {copied}")
        self.run_on(1, f"gnt-cluster copyfile {copied}")
        look = f"cat {copied}; stat -c '%a %Y' {copied}"
        self.assertEqual(self.run_on(2, look).split(), ["new", "640", "1700000000"])
        self.assertIn("node2.example.com: new", self.run_on(1, f'gnt-cluster command -M -n node2 "cat {copied}"'))
        self.run_on(1, f"mkdir -p /srv/scripts && echo up > {listed} && chmod 750 {listed}")
        self.run_on(1, f"echo {listed} > /etc/ganeti/distributed-files && echo 'web secret write' >> {users}")
        self.run_on(1, "gnt-cluster redist-conf")
        sums = f"sha256sum {listed} {users} /etc/ganeti/distributed-files; stat -c %a {listed}"
        self.assertEqual(self.run_on(2, sums), self.run_on(1, sums))
        for node in self.nodes.numbers:  # the list is the administrator's, so it stays when the cluster goes
            self.run_on(node, "rm /etc/ganeti/distributed-files")
        said = self.run_on(1, "gnt-cluster modify --master-netdev=nosuch0", status=1)
        self.assertIn("no network interface 'nosuch0' on node1.example.com, node2.example.com", said)

    def test_all(self) -> None:
        """All keys are other ones afterwards, belong to the right users, and all daemons run that ran before; then it ends."""
        self.begin()
        self.check_ssh()
        self.check_files()
        processes = "systemctl show -p MainPID ganeti-noded ganeti-confd ganeti-mond"
        pids = {node: self.run_on(node, processes) for node in self.nodes.numbers}
        keys = "sha256sum /root/.ssh/id_rsa /var/lib/ganeti/*.pem /var/lib/ganeti/*.key | cut -c1-64"
        former = {line for node in self.nodes.numbers for line in self.run_on(node, keys).split()}
        said = self.run_on(
            1,
            "gnt-cluster renew-crypto -f --new-cluster-certificate --new-confd-hmac-key --new-rapi-certificate "
            "--new-spice-certificate --new-cluster-domain-secret --new-ssh-keys",
        )
        self.assertIn("All requested certificates and keys have been replaced", said)
        now = {line for node in self.nodes.numbers for line in self.run_on(node, keys).split()}
        self.assertEqual(former & now, set())
        self.assertEqual({node: self.run_on(node, processes) for node in self.nodes.numbers}, pids)
        self.assertEqual(self.run_on(1, OWNERS), self.run_on(2, OWNERS))
        self.check_ssh()
        self.check_units(master=1)
        self.run_on(1, "gnt-cluster verify && ganeti-confd-client ping")
        self.run_on(2, "gnt-cluster master-failover")
        self.check_units(master=2)
        self.run_on(2, "gnt-cluster verify")

        self.run_on(2, "gnt-node remove node1.example.com")
        self.run_on(2, "gnt-cluster destroy --yes-do-it")
        for node in self.nodes.numbers:
            self.check_nothing_runs(node)
            left = self.run_on(node, LEFT, status=None).splitlines()
            kept = set(left) - set(self.before[node])
            self.assertEqual((node, kept), (node, {"/root/.ssh/id_rsa", "/root/.ssh/id_rsa.pub"}))

    def test_rename(self) -> None:
        """The new address is on the master alone, the former one is nobody's, and the Remote API answers there."""
        self.begin()
        address = self.run_on(1, "awk '/^[0-9.]+ .*web8.example.com/ {print $1}' /etc/hosts").strip()
        former = self.run_on(1, "cat /var/lib/ganeti/ssconf_master_ip").strip()
        said = self.run_on(1, "gnt-cluster rename -f web8.example.com")
        self.assertIn("Cluster renamed from 'cluster.example.com' to 'web8.example.com'", said)
        there = self.run_on(1, "ip -o addr show dev eth0")
        self.assertIn(f" {address}/", there)
        self.assertNotIn(f" {former}/", there)
        self.assertEqual(self.run_on(2, "cat /var/lib/ganeti/ssconf_cluster_name").strip(), "web8.example.com")
        url = "https://web8.example.com:5080/version"
        self.assertEqual(self.run_on(2, f"curl -sS --cacert /var/lib/ganeti/ca.pem {url}").strip(), "2")
        self.check_ssh()
        self.run_on(1, "gnt-cluster verify")

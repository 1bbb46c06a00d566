"""cluster-merge on nodes with systemd and ssh: one cluster takes in another one of two nodes."""

from typing import ClassVar

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase
from ganeti_tx.test.nodes.test_keys import OWN
from ganeti_tx.test.nodes.test_node_add import LATE

OTHER = (
    "gnt-cluster init --master-netdev eth0 --nic-parameters link=br0 --enabled-disk-templates file "
    "--enabled-hypervisors fake web8.example.com && gnt-node add node3.example.com"
)
ADD = "gnt-instance add -t file --disk 0:size=64M -o busybox+default --net 0:link=br0 --ignore-ipolicy --no-install --no-start"
#: Root of the other cluster's nodes lets in whoever types the password, and nobody's key but its own cluster's.
PASSWORD = (
    "echo root:s3cret | chpasswd && printf 'PermitRootLogin yes\\nPasswordAuthentication yes\\nUsePAM no\\n' "
    "> /etc/ssh/sshd_config.d/a.conf && systemctl reload ssh"
)
#: Answers what ssh asks: whether the cluster's address is to be trusted, and the password.
ASKED = "printf '#!/bin/sh\\ncase $1 in *assword*) echo s3cret;; *) echo yes;; esac\\n' > /root/asked && chmod 700 /root/asked"
MERGE = "SSH_ASKPASS=/root/asked SSH_ASKPASS_REQUIRE=force cluster-merge {} web8.example.com"
KEYS = "cd /var/lib/ganeti && sha256sum ca.pem hmac.key cluster-domain-secret rapi.pem | cut -c1-64"


class MergeTests(SystemdClusterCase):
    """One node is a cluster of its own, two are another one."""

    count: ClassVar[int] = 3

    def setUp(self) -> None:
        super().setUp()
        self.init()
        self.run_on(1, f"{ADD} -n node1.example.com web1.example.com && gnt-instance startup web1.example.com")
        self.run_on(2, OTHER)
        self.run_on(2, f"{ADD} -n node3.example.com web2.example.com && gnt-instance startup web2.example.com")
        self.run_on(2, f"{ADD} -n node2.example.com web3.example.com")
        for node in self.nodes.numbers:
            self.run_on(node, OWN)
            self.run_on(node, PASSWORD if node > 1 else ASKED)

    def test_merge(self) -> None:
        """It is refused with the reason; it fails late, and all is as before; then the clusters are one."""
        before = self.other()
        said = self.run_on(1, MERGE.format(""), status=1)
        self.assertIn("web8.example.com: node group default is in both clusters: --groups=merge makes one", said)
        self.assertEqual(self.other(), before)

        rule = self.run_on(1, LATE).strip()
        said = self.run_on(1, MERGE.format("--groups=merge"), status=1)
        self.assertIn("rejected by filter rule", said)
        self.assertNotIn("Failed", said)
        self.run_on(1, f"gnt-filter delete {rule}")
        self.assertEqual(self.other(), before)
        self.run_on(2, "gnt-cluster verify")
        self.assertEqual(self.run_on(1, "gnt-node list --no-headers -o name").split(), ["node1.example.com"])

        self.run_on(1, MERGE.format("--groups=merge"))
        self.check_merged()

    def other(self) -> dict[str, str]:
        """What the other cluster is like: its files, instances, queue and watcher, and whom its nodes let in."""
        shown = "gnt-instance list --no-headers -o name,status; gnt-cluster queue info; gnt-cluster watcher info"
        files = (
            "sha256sum /root/.ssh/authorized_keys; cd /var/lib/ganeti; sha256sum ca.pem server.pem client.pem hmac.key"
        )
        seen = {f"node{node}": self.run_on(node, files) for node in (2, 3)}
        seen["shown"] = self.run_on(2, shown)
        seen["units"] = " ".join([*self.active(2), *self.active(3)])
        return seen

    def check_merged(self) -> None:
        """One cluster, sound, with one set of keys, in which nothing is left of the other one or of the merge."""
        rows = self.run_on(1, "gnt-node list --no-headers -o name,role,group").split("\n")
        names = ("node1.example.com M", "node2.example.com C", "node3.example.com C")
        self.assertEqual([" ".join(row.split()) for row in rows if row], [f"{name} default" for name in names])
        rows = self.run_on(1, "gnt-instance list --no-headers -o name,status").split("\n")
        self.assertEqual(
            [" ".join(row.split()) for row in rows if row],
            ["web1.example.com running", "web2.example.com running", "web3.example.com ADMIN_down"],
        )
        self.check_units(master=1)
        self.run_on(1, "gnt-cluster verify")
        self.assertIn("not paused", self.run_on(1, "gnt-cluster watcher info"))
        self.assertEqual(len({self.run_on(node, KEYS) for node in self.nodes.numbers}), 1)
        address = self.run_on(1, "awk '/web8.example.com/ {print $1}' /etc/hosts").strip()
        for node in self.nodes.numbers:
            keys = self.run_on(node, "cat /root/.ssh/authorized_keys")
            self.assertNotIn("(cluster-merge)", keys)
            self.assertEqual(keys.count("(ganeti_tx)"), 3)
            self.assertNotIn(f" {address}/", self.run_on(node, "ip -o addr show dev eth0"))
            self.run_on(node, "test ! -e /run/ganeti-merge && test ! -e /var/backups/ganeti-merge.json")
        self.run_on(2, "gnt-cluster master-failover && gnt-cluster verify")
        self.check_units(master=2)

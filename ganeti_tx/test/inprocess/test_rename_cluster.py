"""The cluster gets another name and address."""

from cryptography import x509

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp
from ganeti_tx.runtime.certificates import create_authority
from ganeti_tx.runtime.cluster_authority import rapi_bundle
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import walks
from ganeti_tx.test.inprocess.keys_case import KeyOperation, KeysCase, read
from ganeti_tx.test.inprocess.node import MASTER_IP
from ganeti_tx.test.inprocess.node_keys import CLUSTER_NAME

NEW, ADDRESS = "web9.example.com", "192.0.2.209"
LINE = "gnt-cluster rename -f web9"


def renamed(cluster: InProcessCluster) -> bool:
    """Whether all is as it shall be in the end."""
    return cluster.config.cluster.cluster_name == NEW


RENAME = KeyOperation(LINE, done=renamed, opcode={"OP_ID": "OP_CLUSTER_RENAME", "name": "web9"})


class RenameTests(KeysCase):
    """By the command."""

    def rapi_names(self, number: int) -> list[str]:
        """Whom the Remote API's certificate of a node names."""
        found = x509.load_pem_x509_certificates(read(self.cluster.node(number), "rapi.pem"))[0]
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]

    def addresses(self) -> list[tuple[str, str, str]]:
        """The calls about the cluster's address: node, kind, address."""
        kinds = (NodeActivateMasterIp, NodeDeactivateMasterIp)
        return [
            (each.node, each.call.name, each.call.master_params.ip)
            for each in self.cluster.network.sent
            if isinstance(each.call, kinds)
        ]

    def test_everywhere(self) -> None:
        """The configuration, simple configuration and the Remote API's certificate say so on all nodes; hooks were told."""
        self.cluster.network.sent.clear()
        said = self.ok(LINE)
        self.assertEqual(said.splitlines()[-1], f"Cluster renamed from '{CLUSTER_NAME}' to '{NEW}'")
        self.cluster.pass_time(2)
        for number in (1, 2, 3):
            node = self.cluster.node(number)
            self.assertEqual(read(node, "ssconf_cluster_name"), f"{NEW}\n".encode())
            self.assertEqual(read(node, "ssconf_master_ip"), f"{ADDRESS}\n".encode())
            self.assertEqual(self.rapi_names(number), [NEW, ADDRESS])
        first = self.cluster.node(1).name
        self.assertEqual(
            self.addresses(),
            [(first, "node_deactivate_master_ip", MASTER_IP), (first, "node_activate_master_ip", ADDRESS)],
        )
        hooks = [(each.node, each.call) for each in self.cluster.network.sent if isinstance(each.call, HooksRunner)]
        told = {(node.split(".")[0], str(call.phase.value)) for node, call in hooks if "rename" in call.hpath}
        self.assertEqual(told, {("node1", "pre"), ("node1", "post"), ("node2", "post"), ("node3", "post")})
        self.ok("gnt-cluster verify")

    def test_and_back(self) -> None:
        """The former name is free."""
        self.ok(LINE)
        self.ok("gnt-cluster rename -f cluster")
        self.assertEqual(self.cluster.config.cluster.master_ip, MASTER_IP)

    def test_refused(self) -> None:
        """A name that nobody knows, the present one, and one whose address a node has."""
        self.fails("gnt-cluster rename -f nosuch", "The given name \\(nosuch\\) does not resolve|does not resolve")
        self.fails("gnt-cluster rename -f cluster", "neither the name nor the IP address of the cluster has changed")
        self.fails("gnt-cluster rename -f node2", "node2.example.com's")
        self.fails("gnt-cluster rename web9", "--force answers beforehand")

    def test_dry(self) -> None:
        """Nothing changes with --dry-run."""
        self.ok("gnt-cluster rename -f --dry-run web9")
        self.assertFalse(renamed(self.cluster))

    def test_certificate_of_others(self) -> None:
        """A certificate that the administrator has put there stays, and the command says so."""
        bundle = rapi_bundle(create_authority("somebody", utc_now()), "api.example.com", "192.0.2.77", utc_now())
        put(self.cluster.master.disk, self.cluster.paths.rapi_pem, bundle, 0o440)
        self.assertIn("stays as it is", self.ok(LINE))
        self.assertEqual(read(self.cluster.node(1), "rapi.pem"), bundle)


@walks({"rename": RENAME})
class RenameWalks(KeysCase):
    """Whatever goes wrong, the cluster has one of its names and addresses, whole."""

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """The name belongs to the address, and to the certificate."""
        name, address = cluster.config.cluster.cluster_name, cluster.config.cluster.master_ip
        whole = (name, address) in ((NEW, ADDRESS), (CLUSTER_NAME, MASTER_IP))
        shown = x509.load_pem_x509_certificates(read(cluster.master, "rapi.pem"))[0]
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        right = names.get_values_for_type(x509.DNSName) == [name]
        return [
            *super().faults(cluster),
            *([] if whole else [f"{name} has {address}"]),
            *([] if right else [f"the certificate does not name {name}"]),
        ]

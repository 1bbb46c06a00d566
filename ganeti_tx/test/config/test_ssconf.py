"""ssconf: the keys and formats of Ganeti, written and read back."""

import json
from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.runtime.ssconf_files import write_ssconf
from ganeti_tx.test.config.stores import CONFIG, PATHS
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import GROUP, NETWORK, NODE2

FACTS = json.loads((Path(__file__).parent / "facts" / "ssconf.json").read_text())
STATE = replace(
    CONFIG,
    nodes={**CONFIG.nodes, NODE2.uuid: replace(NODE2, offline=True, master_candidate=False, vm_capable=False)},
    cluster=replace(CONFIG.cluster, candidate_certs={"node1-uuid": "ab12", "server:node1-uuid": "cd34"}),
)


class ValueTests(SynchronousTestCase):
    """What the keys hold."""

    def test_keys(self) -> None:
        """There are exactly the keys of the table, and one of our own."""
        self.assertEqual(sorted(ssconf_values(STATE)), sorted([*FACTS["keys"], "node_certs"]))

    def test_values(self) -> None:
        """Lists are a word a line, pairs and flags are written as Ganeti writes them."""
        values = ssconf_values(STATE)
        wanted = {
            "cluster_name": "cluster.example.com",
            "cluster_tags": "a\nb",
            "enabled_user_shutdown": "False",
            "hypervisor_list": "kvm\nfake",
            "instance_list": "web1.example.com",
            "master_candidates": "node1.example.com",
            "master_candidates_certs": "node1-uuid=ab12",
            "node_certs": "node1.example.com=cd34",
            "master_candidates_ips": "192.0.2.11",
            "master_netmask": "32",
            "master_node": "node1.example.com",
            "networks": f"{NETWORK.uuid} lan",
            "node_list": "node1.example.com\nnode2.example.com",
            "node_primary_ips": "node1.example.com 192.0.2.11\nnode2.example.com 192.0.2.12",
            "node_vm_capable": "node1.example.com=True\nnode2.example.com=False",
            "nodegroups": f"{GROUP.uuid} default",
            "offline_nodes": "node2.example.com",
            "online_nodes": "node1.example.com",
            "primary_ip_family": "2",
            "ssh_ports": "node1.example.com=22\nnode2.example.com=22",
            "uid_pool": "5-9\n12",
        }
        self.assertEqual({key: values[key] for key in wanted}, wanted)
        self.assertIn("acpi=False", values["hvparams_kvm"].splitlines())

    def test_no_master(self) -> None:
        """An unknown master is written as such."""
        lost = replace(STATE, cluster=replace(STATE.cluster, master_node="ghost"))
        self.assertEqual(ssconf_values(lost)["master_node"], "NO MASTER")


class FileTests(SynchronousTestCase):
    """Written and read back."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.files.mkdir(PATHS.data_dir)
        self.reader = SsconfReader(self.files, PATHS)

    def write(self, values: dict[str, str]) -> None:
        """Write some keys."""
        self.successResultOf(Deferred.fromCoroutine(write_ssconf(self.files, PATHS, values)))

    def test_round_trip(self) -> None:
        """The reader finds what was written."""
        self.write(ssconf_values(STATE))
        self.assertEqual(self.files.read(PATHS.ssconf_file("cluster_tags"), 99), b"a\nb\n")
        self.assertEqual(self.files.read(PATHS.ssconf_file("file_storage_dir"), 99), b"")
        self.assertEqual(self.files.stat(PATHS.ssconf_file("cluster_name")).mode, 0o444)
        self.assertEqual(self.reader.master_node(), "node1.example.com")
        self.assertEqual(self.reader.candidates(), [NodeAddress("node1.example.com", "192.0.2.11")])
        self.assertTrue(self.reader.node("node2.example.com").offline)
        self.assertEqual(self.reader.ssh_ports(), {"node1.example.com": 22, "node2.example.com": 22})
        self.assertEqual(self.reader.hvparams(Hypervisor.KVM)["acpi"], "False")
        self.assertEqual(self.reader.candidate_certificates(), {"node1-uuid": "ab12"})

    def test_only_what_changed(self) -> None:
        """A file that holds its value already is left alone; the reader notices one that was replaced."""
        self.write({"cluster_name": "a", "master_ip": "b"})
        self.assertEqual(self.reader.cluster_name(), "a")
        before = self.files.stat(PATHS.ssconf_file("master_ip"))
        self.write({"cluster_name": "c", "master_ip": "b"})
        self.assertEqual(self.files.stat(PATHS.ssconf_file("master_ip")), before)
        self.assertEqual(self.reader.cluster_name(), "c")

    def test_missing(self) -> None:
        """A node without ssconf is not part of a cluster, and says so."""
        error = self.assertRaises(ConfigurationError, self.reader.master_node)
        self.assertIn("not part of a cluster", str(error))
        self.write({"master_node": "NO MASTER"})
        self.assertIsNone(self.reader.master_node())

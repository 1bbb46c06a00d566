"""LUXI's methods that read, from the method's name to the JSON that leaves."""

from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxid.cluster_info import ClusterInfo, machine
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.query_methods import make_query_methods
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.settings.collectors import DataCollector
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CLUSTER, CONFIG, FILTER, GROUP, INSTANCE, NETWORK, NODE, NODE2
from ganeti_tx.test.query.case import FakeJobs
from ganeti_tx.test.query.facts_table import FACTS

PAUSE = 1_700_000_000.5


class MethodCase(SynchronousTestCase):
    """A luxid over the sample configuration."""

    def setUp(self) -> None:
        """Nodes have no exports and nothing else to tell; the queue is drained and the watcher paused."""
        self.config = CONFIG
        self.rpc = FakeNodeRpc()
        self.rpc.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={}))
        self.rpc.answer(AllInstancesInfo, {})
        self.rpc.answer(ExportList, [])
        info = ClusterInfo(lambda: self.config, lambda: PAUSE, lambda: True, lambda: ["64bits", "x86_64"])
        methods = make_query_methods(lambda: self.config, self.rpc, lambda: (), FakeJobs(dict), info, Clock())
        self.dispatch = LuxiDispatch(methods.table())

    def start(self, method: str, *args: Any) -> Deferred[Any]:
        """Call a method."""
        return Deferred.fromCoroutine(self.dispatch(method, list(args), None))

    def call(self, method: str, *args: Any) -> Any:
        """The method's answer as a client reads it."""
        return msgspec.json.decode(msgspec.json.encode(self.successResultOf(self.start(method, *args))))

    def refuses(self, ecode: ECode, method: str, *args: Any) -> str:
        """The text with which the method refuses."""
        error = self.failureResultOf(self.start(method, *args), OpPrereqError).value
        self.assertEqual(error.ecode, ecode)
        return str(error)


class QueryTests(MethodCase):
    """Queries in both styles."""

    def test_query(self) -> None:
        """Query answers with definitions and cells."""
        answer = self.call("Query", "node", ["name", "role"], ["=", "name", "node2"])
        self.assertEqual([field["title"] for field in answer["fields"]], ["Node", "Role"])
        self.assertEqual(set(answer["fields"][0]), {"name", "title", "kind", "doc"})
        self.assertEqual(answer["data"], [[[0, "node2.example.com"], [0, "C"]]])

    def test_fields(self) -> None:
        """QueryFields answers with definitions alone."""
        found = self.call("QueryFields", "lock", None)["fields"]
        self.assertEqual([field["name"] for field in found], ["mode", "name", "owner", "pending"])
        self.assertEqual(self.call("QueryFields", "lock", ["bogus"])["fields"][0]["kind"], "unknown")

    def test_every_field_is_json(self) -> None:
        """All fields of all resources can be written as JSON."""
        for what, facts in FACTS["resources"].items():
            fields = list(facts["fields"])
            for row in self.call("Query", what, fields, None)["data"]:
                self.assertEqual(len(row), len(fields))

    def test_classic(self) -> None:
        """The old calls answer with plain rows, unknown items left out."""
        expected = {
            "QueryInstances": ["web1.example.com"],
            "QueryNodes": ["node2.example.com"],
            "QueryGroups": ["default"],
            "QueryNetworks": ["lan"],
        }
        for (method, row), item in zip(expected.items(), ("web1", "node2-uuid", "default", "net-uuid"), strict=True):
            self.assertEqual(self.call(method, ["nobody", item], ["name"], False), [row])
            self.assertEqual(self.call(method, ["nobody"], ["name"], False), [])
            self.refuses(ECode.INVAL, method, [], ["bogus"], False)
        self.assertEqual(len(self.call("QueryNodes", [], ["name"], False)), 2)

    def test_exports_of_unknown_node(self) -> None:
        """Exports of a node that is not there are an error, unlike the other old calls."""
        self.refuses(ECode.NOENT, "QueryExports", ["nobody"], False)

    def test_filters(self) -> None:
        """QueryFilters takes uuids, or null for all."""
        for asked in (None, [FILTER.uuid, "nobody"]):
            self.assertEqual(self.call("QueryFilters", asked, ["uuid", "action"]), [[FILTER.uuid, ["RATE_LIMIT", 2]]])
        self.assertEqual(self.call("QueryFilters", ["nobody"], ["uuid"]), [])
        self.refuses(ECode.INVAL, "QueryFilters", None, ["bogus"])

    def test_absent(self) -> None:
        """A method that is not there says so and tells which are."""
        text = self.refuses(ECode.INVAL, "PickupJob", 1)
        self.assertIn("PickupJob", text)
        self.assertIn("QueryNodes", text)


class TagTests(MethodCase):
    """QueryTags."""

    def setUp(self) -> None:
        """Everything has a tag that is the word for its kind, and another."""
        super().setUp()

        def tagged(held: Any, kind: str) -> Any:
            return replace(held, tags=(kind, "a"))

        self.config = replace(
            CONFIG,
            cluster=tagged(CLUSTER, "cluster"),
            nodes={NODE.uuid: tagged(NODE, "node"), NODE2.uuid: NODE2},
            nodegroups={GROUP.uuid: tagged(GROUP, "nodegroup")},
            instances={INSTANCE.uuid: tagged(INSTANCE, "instance")},
            networks={NETWORK.uuid: tagged(NETWORK, "network")},
        )
        self.names = {"nodegroup": "default", "node": "node1", "instance": "web1", "network": "lan"}

    def test_tags(self) -> None:
        """The tags of each kind of object, in order."""
        for kind, name in {**self.names, "cluster": ""}.items():
            self.assertEqual(self.call("QueryTags", kind, name), ["a", kind])
        self.assertEqual(self.call("QueryTags", "node", "node2.example.com"), [])

    def test_unknown(self) -> None:
        """An object that is not there is named."""
        for kind in self.names:
            self.assertIn("nobody", self.refuses(ECode.NOENT, "QueryTags", kind, "nobody"))


class ConfigValueTests(MethodCase):
    """QueryConfigValues."""

    def test_values(self) -> None:
        """Each name of the table has its value, in the order asked, and an unknown one null."""
        expected = {
            "cluster_name": "cluster.example.com",
            "watcher_pause": PAUSE,
            "master_node": "node1.example.com",
            "drain_flag": True,
            "modify_ssh_setup": True,
            "ssh_key_type": "rsa",
            "ssh_key_bits": 2048,
        }
        self.assertEqual(set(expected), set(FACTS["QueryConfigValues"]))
        asked = ["bogus", *expected, "cluster_name"]
        self.assertEqual(self.call("QueryConfigValues", asked), [None, *expected.values(), "cluster.example.com"])
        self.assertEqual(self.call("QueryConfigValues", []), [])


class ClusterInfoTests(MethodCase):
    """QueryClusterInfo."""

    def info(self, **changes: Any) -> dict[str, Any]:
        """The answer for the sample cluster with changes."""
        self.config = replace(CONFIG, cluster=replace(CLUSTER, **changes))
        answer: dict[str, Any] = self.call("QueryClusterInfo")
        return answer

    def test_keys(self) -> None:
        """The keys are those of the table, and what else can be set."""
        ours = ("default_disk_size", "default_group", "hv_state", "disk_state", "modify_etc_hosts")
        self.assertEqual(sorted(self.info()), sorted([*FACTS["QueryClusterInfo"], *ours]))

    def test_plain(self) -> None:
        """Settings come as they are stored, the master by its name."""
        info = self.info(tags=("a",), candidate_pool_size=3, volume_group_name="xenvg")
        expected = {
            "name": "cluster.example.com",
            "master": "node1.example.com",
            "tags": ["a"],
            "candidate_pool_size": 3,
            "volume_group_name": "xenvg",
            "drbd_usermode_helper": None,
            "enabled_disk_templates": ["drbd", "plain"],
            "architecture": ["64bits", "x86_64"],
            "enabled_hypervisors": ["kvm", "fake"],
            "default_hypervisor": "kvm",
            "os_hvp": {},
        }
        self.assertEqual({key: info[key] for key in expected}, expected)

    def test_versions(self) -> None:
        """Versions are those that Ganeti 3.0 tells."""
        info = self.info()
        found = [info[key] for key in ("config_version", "protocol_version", "os_api_version", "export_version")]
        self.assertEqual(found, [3000000, 3000000, 20, 0])
        self.assertIsInstance(info["software_version"], str)

    def test_parameters(self) -> None:
        """Parameters are filled from the built-in ones, for all hypervisors there are."""
        changes = {"beparams": {"default": {"maxmem": 512}}, "hvparams": {Hypervisor.KVM: {"acpi": False}}}
        info = self.info(**changes, nicparams={"default": {"link": "br7"}}, ndparams={"ssh_port": 2200})
        self.assertEqual(set(info["hvparams"]), {"chroot", "fake", "kvm", "lxc", "xen-hvm", "xen-pvm"})
        self.assertEqual((info["hvparams"]["kvm"]["acpi"], "boot_order" in info["hvparams"]["kvm"]), (False, True))
        self.assertIn("migration_port", info["hvparams"]["kvm"])
        self.assertEqual((info["beparams"]["default"]["maxmem"], info["beparams"]["default"]["vcpus"]), (512, 1))
        self.assertEqual(info["nicparams"]["default"], {"link": "br7", "mode": "bridged", "vlan": ""})
        self.assertEqual((info["ndparams"]["ssh_port"], info["ndparams"]["ovs"]), (2200, False))
        self.assertIn("resync-rate", info["diskparams"]["drbd"])
        self.assertIn("minmax", info["ipolicy"])

    def test_ip_version(self) -> None:
        """The address family is told as a version."""
        for family, version in ((2, 4), (10, 6)):
            self.assertEqual(self.info(primary_ip_family=family)["primary_ip_version"], version)

    def test_collectors(self) -> None:
        """Data collectors by name: which are on, and how often they run."""
        info = self.info(data_collectors={"lv": DataCollector(active=False, interval=5_000_000)})
        found = info["enabled_data_collectors"], info["data_collector_interval"]
        self.assertEqual(found, ({"lv": False}, {"lv": 5_000_000}))

    def test_no_secret(self) -> None:
        """Private OS parameters and keys stay inside."""
        info = self.info(osparams_private_cluster={"debian": {"password": "s3cret"}}, rsahostkeypub="kEy")
        self.assertNotIn("s3cret", repr(info))
        self.assertNotIn("kEy", repr(info))

    def test_master_unknown(self) -> None:
        """A master that is not in the configuration is told by its uuid."""
        self.assertEqual(self.info(master_node="gone-uuid")["master"], "gone-uuid")

    def test_machine(self) -> None:
        """The architecture is the width of a pointer and the kind of machine, in the packaged daemon's words."""
        bits, kind = machine()
        self.assertIn(bits, {"32bits", "64bits"})
        self.assertTrue(kind)

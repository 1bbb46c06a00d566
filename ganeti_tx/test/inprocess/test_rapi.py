"""Operations of the Remote API against a whole cluster: the answers are what is promised, and can be sent back."""

from typing import Any

import jsonschema_rs

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.model.opcodes import OpClusterSetParams, OpCode, OpGroupSetParams, OpNodeSetParams
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.rapi.operations.availability import available
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.rapi.resources import cluster_fields, fields
from ganeti_tx.rapi.resources.table import OPERATIONS
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.node import OS_NAME
from ganeti_tx.test.rapi.calls import found, request

COMMON = set(OpCode.__struct_fields__)
WEB = "web1.example.com"
NODE = "node3.example.com"
#: Tested with what they are about.
ELSEWHERE = {
    "/2/events",
    "/2/metrics",
    "/metrics",
    "/openapi.json",
}
RULE = {"priority": 1, "predicates": [["jobid", [">", "id", "watermark"]]], "action": "CONTINUE"}


def settings(kind: type[OpCode], *others: str) -> set[str]:
    """The parameters of an opcode that change settings."""
    return set(kind.__struct_fields__) - COMMON - set(others)


class SettableTests(ClusterCase):
    """What can be set can be read, under the name that sets it."""

    def test_nodes(self) -> None:
        """Every setting of a node; what is asked for with it is none."""
        names = settings(OpNodeSetParams, "node_name", "node_uuid", "force", "auto_promote")
        self.assertEqual(names - {*fields.NODE, "secondary_ip"}, set())

    def test_groups(self) -> None:
        """Every setting of a node group."""
        self.assertEqual(settings(OpGroupSetParams, "group_name") - fields.GROUP.keys(), set())

    def test_cluster(self) -> None:
        """Every setting of the cluster; private parameters are shown to nobody, steps end in lists."""
        steps = ("add_uids", "remove_uids")
        names = settings(OpClusterSetParams, "force", "osparams_private_cluster", *steps)
        self.assertEqual(names - cluster_fields.CLUSTER.keys(), set())


class RapiCase(ClusterCase):
    """Sends requests past HTTP to operations over a real luxid."""

    def setUp(self) -> None:
        super().setUp()
        process: Any = self.cluster.new_process("rapi")
        self.remote = client(process, str(self.cluster.paths.query_socket))
        self.addCleanup(self.remote.close)
        self.asked: set[str] = set()

    def send(self, method: str, address: str, body: Any = None) -> Any:
        """What the operation gives, which is as its schema says."""
        call = request(self.remote, method, address, body)
        self.asked.add(found(method, address.partition("?")[0])[0].path)

        async def answer() -> Any:
            return await call.operation.run(call)

        result = self.cluster.run(answer())
        problems = list(jsonschema_rs.validator_for(dict(call.operation.result)).iter_errors(result))
        self.assertEqual([f"{list(each.instance_path)}: {each.message}" for each in problems], [], address)
        return result

    def done(self, method: str, address: str, body: Any = None) -> Any:
        """The results of the job that is submitted, which must succeed."""
        job_id = self.send(method, address, body)
        self.cluster.pass_time(30)
        job = self.send("GET", f"/2/jobs/{job_id}")
        self.assertEqual(job["status"], "success", job["opresult"])
        return job["opresult"]

    def make_network(self) -> None:
        """lan, which the only group has."""
        whole = {
            "network_name": "lan",
            "network": "10.5.0.0/28",
            "gateway": "10.5.0.1",
            "network6": "2001:db8:5::/64",
            "gateway6": "2001:db8:5::1",
            "mac_prefix": "aa:00:55",
            "add_reserved_ips": ["10.5.0.5"],
            "tags": ["one"],
        }
        self.done("POST", "/2/networks", whole)
        link = {"group_name": "default", "network_mode": "routed", "network_link": "100"}
        self.done("PUT", "/2/networks/lan/connect", link)

    def make_instance(self) -> None:
        """web1, running on the first node."""
        self.done(
            "POST",
            "/2/instances",
            {
                "__version__": 1,
                "mode": "create",
                "name": WEB,
                "os": OS_NAME,
                "disk_template": "file",
                "disks": [{"size": 1024}],
                "nics": [{"link": "default", "mode": "routed", "ip": "192.0.2.201"}],
                "pnode": "node1.example.com",
            },
        )


class ReadTests(RapiCase):
    """Every answer of every GET fits its schema."""

    def test_all(self) -> None:
        """A cluster with one of everything, read whole."""
        self.make_instance()
        uuid = self.send("POST", "/2/filters", RULE)
        self.make_network()
        for path in ("/", "/2", "/version", "/2/features", "/2/info", "/2/tags", "/2/os", "/2/query/instance/fields"):
            self.send("GET", path)
        for path in ("/2/instances", "/2/nodes", "/2/groups", "/2/networks", "/2/jobs", "/2/filters"):
            self.send("GET", path)
            self.send("GET", f"{path}?bulk=1")
        for path in (f"/2/instances/{WEB}", f"/2/nodes/{NODE}", "/2/groups/default", "/2/networks/lan"):
            self.send("GET", path)
            self.send("GET", f"{path}/tags")
        self.send("GET", f"/2/instances/{WEB}/console")
        self.send("GET", f"/2/instances/{WEB}/info?static=1")
        self.send("GET", f"/2/nodes/{NODE}/role")
        [rows] = self.done("GET", f"/2/nodes/{NODE}/storage?storage_type=file&output_fields=node,type")
        self.assertEqual(rows, [[NODE, "file"]])
        self.send("GET", f"/2/filters/{uuid}")
        self.send("GET", "/2/query/node?fields=name,nonsense")
        self.send("GET", "/2/jobs/1")
        self.send("GET", "/2/jobs/99")
        self.send("DELETE", "/2/jobs/1")
        self.send("GET", "/2/jobs/1/wait", {"fields": ["id", "status"]})
        self.send("DELETE", f"/2/filters/{uuid}")
        missing = {each.path for each in available(OPERATIONS, UNITS) if each.method == "GET"} - self.asked
        self.assertEqual({path for path in missing if path not in ELSEWHERE}, set())

    def test_console_of_stopped(self) -> None:
        """A stopped instance has no console."""
        self.make_instance()
        self.done("PUT", f"/2/instances/{WEB}/shutdown")
        with self.assertRaises(HttpError) as caught:
            self.send("GET", f"/2/instances/{WEB}/console")
        self.assertEqual(caught.exception.status, 503)


class SendBackTests(RapiCase):
    """What was read can be sent to where it is changed."""

    def test_cluster(self) -> None:
        """All settings of the cluster at once; nothing changes."""
        before = self.send("GET", "/2/info")
        _, body = self.schema_of("PUT", "/2/modify")
        sent = {name: value for name, value in before.items() if name in body["properties"] and value is not None}
        self.assertGreater(len(sent), 30)
        self.done("PUT", "/2/modify", {name: value for name, value in sent.items() if name not in ("tags",)})
        after = self.send("GET", "/2/info")
        self.assertEqual(unstamped(after), unstamped(before))

    def test_group(self) -> None:
        """All settings of a node group at once, its own parameters under the names that tell them apart; nothing changes."""
        self.done(
            "POST", "/2/groups", {"name": "rack2", "ndparams": {"spindle_count": 2}, "ipolicy": {"vcpu-ratio": 3}}
        )
        before = self.send("GET", "/2/groups/rack2")
        _, body = self.schema_of("PUT", "/2/groups/rack2/modify")
        names = {*body["properties"], "custom_ndparams", "custom_diskparams", "custom_ipolicy"} - {
            "ndparams",
            "diskparams",
            "ipolicy",
        }
        sent = {name: value for name, value in before.items() if name in names and value is not None}
        self.assertEqual(len(sent), 6, sent)
        self.done("PUT", "/2/groups/rack2/modify", sent)
        self.assertEqual(unstamped(self.send("GET", "/2/groups/rack2")), unstamped(before))

    def test_lists_of_names(self) -> None:
        """Lists that are changed step by step may be sent whole."""
        self.done("PUT", "/2/modify", {"hidden_os": [["add", "old"], ["add", "older"]]})
        self.done("PUT", "/2/modify", {"hidden_os": ["older", "new"]})
        self.assertEqual(sorted(self.send("GET", "/2/info")["hidden_os"]), ["new", "older"])
        self.done("PUT", "/2/modify", {"hidden_os": []})
        self.assertEqual(len(self.send("GET", "/2/info")["hidden_os"]), 2)

    def test_node(self) -> None:
        """All settings of a node at once, its own parameters under the name that tells them apart; nothing changes."""
        before = self.send("GET", f"/2/nodes/{NODE}")
        _, body = self.schema_of("POST", f"/2/nodes/{NODE}/modify")
        sent = {name: value for name, value in before.items() if name in body["properties"] and value is not None}
        del sent["ndparams"]
        self.assertEqual(len(sent), 7, sent)
        self.done("POST", f"/2/nodes/{NODE}/modify", sent)
        after = self.send("GET", f"/2/nodes/{NODE}")
        self.assertEqual(unstamped(after), unstamped(before))

    def schema_of(self, method: str, path: str) -> tuple[Operation, Any]:
        """An operation and the schema of its body."""
        operation, _ = found(method, path)
        return operation, operation.body


def unstamped(item: dict[str, Any]) -> dict[str, Any]:
    """An object without what each change changes, and what the moment does."""
    return {
        name: value for name, value in item.items() if name not in ("serial_no", "mtime", "mfree", "mnode", "dfree")
    }


class NetworkTests(RapiCase):
    """Networks by the Remote API alone."""

    def test_life(self) -> None:
        """Made, connected, used, changed, disconnected, removed; each is seen."""
        self.make_network()
        nic = {"network": "lan", "ip": "pool"}
        body = {
            "__version__": 1,
            "mode": "create",
            "name": WEB,
            "os": OS_NAME,
            "disk_template": "diskless",
            "disks": [],
            "nics": [nic],
            "pnode": "node1.example.com",
        }
        self.done("POST", "/2/instances", body)
        seen = self.send("GET", "/2/networks/lan")
        self.assertEqual((seen["free_count"], seen["reserved_count"]), (11, 5))
        self.assertEqual((seen["map"], seen["inst_list"]), ("XXX..X.........X", [WEB]))
        self.assertEqual(seen["group_list"], [["default", "routed", "100", ""]])
        self.assertEqual(seen["external_reservations"], "10.5.0.0, 10.5.0.1, 10.5.0.5, 10.5.0.15")
        self.done("PUT", "/2/networks/lan/modify", {"gateway": "10.5.0.14", "remove_reserved_ips": ["10.5.0.5"]})
        self.assertEqual(self.send("GET", "/2/networks/lan")["gateway"], "10.5.0.14")
        self.done("DELETE", f"/2/instances/{WEB}")
        self.done("PUT", "/2/networks/lan/disconnect", {"group_name": "default"})
        self.assertEqual(self.send("GET", "/2/networks/lan")["group_list"], [])
        self.assertEqual(self.done("PUT", "/2/networks/lan/rename", {"new_name": "wan"}), ["wan"])
        self.done("DELETE", "/2/networks/wan")
        self.assertEqual(self.send("GET", "/2/networks"), [])

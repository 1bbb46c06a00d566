"""Scoped users, before a whole cluster."""

from html import unescape
from http import HTTPStatus
from typing import Any

from ganeti_tx.luxi.client import Client
from ganeti_tx.rapi.access.scope_rows import CALLER_SOURCE
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.rapi.access.gates import MemoryGate, basic
from ganeti_tx.test.rapi.requests import Answer, FakeLuxi, Rapi

USERS = """
web pw write,read,tag=web
other pw write,read,tag=web
rack pw write,read,group=rack1
root pw @admin
"""
MINE, THEIRS = "web1.example.com", "web2.example.com"
CREATE = {
    "__version__": 1, "name": "web3.example.com", "os": "noop", "mode": "create", "disk_template": "file",
    "disks": [{"size": 1024}], "nics": [{}], "pnode": "node2.example.com",
    "ip_check": False, "name_check": False,
}  # fmt: skip


class ClusterLuxi(FakeLuxi):
    """The cluster's own LUXI, kept of which calls came."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        self.calls.append((method, args))
        return self.client.call(method, args)


class ScopeCase(ClusterCase):
    """One instance with the tag web, one with the tag db."""

    def setUp(self) -> None:
        """Make them."""
        super().setUp()
        self.addCleanup(self.cluster.pass_time, 300)  # until all jobs have ended
        self.ok("gnt-instance add -t file -s 1G -o noop -n node2 --tags web,nice web1")
        self.ok("gnt-instance add -t file -s 1G -o noop -n node2 --tags db web2")
        self.luxi_seen = ClusterLuxi(self.luxi())
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate({"users": USERS}).gate)

    def ask(self, method: str, path: str, body: Any = None, user: str = "web") -> Answer:
        """A request of a user."""
        return self.rapi.request(method, path, body, {"Authorization": basic(user, "pw")})

    def done(self, method: str, path: str, body: Any = None, user: str = "web") -> Any:
        """What a request that succeeds gives."""
        answer = self.ask(method, path, body, user)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def let_through(self, method: str, path: str, body: Any) -> None:
        """A request that the user may make, whether this version can do it or not."""
        answer = self.ask(method, path, body)
        self.assertIn(answer.status, (HTTPStatus.OK, HTTPStatus.NOT_IMPLEMENTED), answer.body)

    def refused(self, status: int, method: str, path: str, body: Any = None, user: str = "web") -> str:
        """The message of one that does not."""
        answer = self.ask(method, path, body, user)
        self.assertEqual(answer.status, status, answer.body)
        return unescape(str(answer.json["message"]))


class QueryTests(ScopeCase):
    """What is not in scope is not there."""

    def test_lists(self) -> None:
        """Lists hold what is in scope, in short and in full."""
        self.assertEqual([each["id"] for each in self.done("GET", "/2/instances")], [MINE])
        (full,) = self.done("GET", "/2/instances?bulk=1")
        self.assertEqual((full["name"], full["tags"]), (MINE, ["nice", "web"]))
        self.assertEqual(len(self.done("GET", "/2/instances", user="root")), 2)

    def test_single(self) -> None:
        """One outside of it answers as one that does not exist."""
        self.assertEqual(self.done("GET", f"/2/instances/{MINE}")["name"], MINE)
        outside = self.refused(404, "GET", f"/2/instances/{THEIRS}")
        nowhere = self.refused(404, "GET", "/2/instances/web9.example.com")
        self.assertEqual(outside.replace("web2", "web9"), nowhere)
        for path in ("tags", "console", "info"):
            self.refused(404, "GET", f"/2/instances/{THEIRS}/{path}")
        self.assertEqual(self.done("GET", f"/2/instances/{MINE}/tags"), ["nice", "web"])
        self.done("GET", f"/2/instances/{MINE}/console")

    def test_query(self) -> None:
        """Free queries show instances in scope, without the fields that were asked for beside; nothing else."""
        answer = self.done("GET", "/2/query/instance?fields=name,status")
        self.assertEqual(answer["data"], [[[0, MINE], [0, "running"]]])
        self.assertEqual([each["name"] for each in answer["fields"]], ["name", "status"])
        for name in (THEIRS, "web9.example.com"):
            body = {"fields": ["name"], "qfilter": ["=", "name", name]}
            self.assertEqual(self.done("PUT", "/2/query/instance", body)["data"], [])
        everything = {"fields": ["name"], "qfilter": ["!=", "name", ""]}
        self.assertEqual(self.done("PUT", "/2/query/instance", everything)["data"], [[[0, MINE]]])
        for resource in ("node", "group", "lock", "network"):
            self.refused(403, "GET", f"/2/query/{resource}?fields=name")
        self.assertTrue(self.done("GET", "/2/query/instance/fields?fields=name")["fields"])

    def test_rest(self) -> None:
        """Whatever is neither instances nor jobs is refused, save what shows nothing of the cluster."""
        for path in ("info", "nodes", "nodes/node1.example.com", "groups", "networks", "filters", "tags"):
            self.refused(403, "GET", f"/2/{path}")
        for method, path in [("PUT", "modify"), ("POST", "nodes/node1.example.com/evacuate"), ("PUT", "tags?tag=x")]:
            self.refused(403, method, f"/2/{path}", {})
        self.assertEqual(self.done("GET", "/version"), 2)
        self.assertIn("instance-create-reqv1", self.done("GET", "/2/features"))


class SubmissionTests(ScopeCase):
    """What jobs may be about."""

    def test_power(self) -> None:
        """Instances in scope are stopped and started; others answer as if they were not there, and no job is made."""
        job = self.done("PUT", f"/2/instances/{MINE}/shutdown", {})
        self.cluster.pass_time(60)
        self.assertEqual(self.done("GET", f"/2/jobs/{job}")["status"], "success")
        self.assertEqual(self.done("GET", f"/2/instances/{MINE}")["status"], "ADMIN_down")
        before = self.cluster.running()
        for name in (THEIRS, "web9.example.com", "web1", "WEB1.example.com"):
            self.assertIn("there is no instance", self.refused(404, "PUT", f"/2/instances/{name}/startup"))
            self.refused(404, "DELETE", f"/2/instances/{name}")
        self.assertEqual(self.cluster.running(), before)

    def test_create(self) -> None:
        """A new instance has a tag of the scopes, and names nothing of others."""
        create = {**CREATE, "pnode": None, "iallocator": "some"}
        self.assertIn("a new instance needs the tag 'web'", self.refused(403, "POST", "/2/instances", create))
        self.assertIn("needs the tag", self.refused(403, "POST", "/2/instances", {**create, "tags": ["db"]}))
        inside = {**create, "tags": ["web"]}
        self.assertIsInstance(self.done("POST", "/2/instances", inside), int)
        cases: list[tuple[dict[str, Any], str]] = [
            ({"pnode": "node2.example.com"}, "'node2.example.com' is in none of the node groups"),
            ({"pnode": "node99"}, "'node99' is in none"),
            ({"disks": [{"size": 1, "adopt": "xenvg/other"}]}, "'adopt' in 'disks'"),
            ({"disks": [{"uuid": "some"}]}, "'uuid' in 'disks'"),
            ({"nics": [{"network": "dmz"}]}, "'network' in 'nics'"),
            ({"nics": [{"link": "br1"}]}, "'link' in 'nics'"),
            ({"hvparams": {"kernel_path": "/etc/shadow"}}, "'kernel_path' in 'hvparams'"),
            ({"hvparams": {"kvm_extra": "-x"}}, "'kvm_extra' in 'hvparams'"),
            ({"hvparams": {"kernel_args": "x' extra"}}, "'kernel_args' in 'hvparams'"),
            ({"hypervisor": "chroot"}, "the hypervisor 'chroot'"),
            ({"mode": "import", "src_path": "/x"}, "'src_path'"),
            ({"mode": "import"}, "mode 'import'"),
            ({"pnode_uuid": "some"}, "'pnode_uuid'"),
            ({"file_storage_dir": "../x"}, "'file_storage_dir'"),
            ({"ignore_ipolicy": True}, "'ignore_ipolicy'"),
        ]
        for more, word in cases:
            self.assertIn(word, self.refused(403, "POST", "/2/instances", {**inside, **more}))
        inner = {key: value for key, value in inside.items() if key != "__version__"}
        self.refused(403, "POST", "/2/instances-multi-alloc", {"instances": [inner]})

    def test_modify(self) -> None:
        """Changes reach what belongs to the instance, and nothing beyond it."""
        path = f"/2/instances/{MINE}/modify"
        self.let_through("PUT", path, {"beparams": {"maxmem": 256}, "hvparams": {"acpi": True}})
        self.let_through("PUT", path, {"disks": [["add", {"size": 1024}], [0, {"mode": "ro"}]], "nics": [["add", {}]]})
        for body, word in [
            ({"disks": [["attach", {"uuid": "other"}]]}, "attach disks"),
            ({"disks": [["detach", {}]]}, "detach disks"),
            ({"nics": [["add", {"network": "dmz"}]]}, "'network' in 'nics'"),
            ({"hvparams": {"cdrom_image_path": "/dev/sda"}}, "'cdrom_image_path'"),
            ({"instance_uuid": "other"}, "'instance_uuid'"),
            ({"remote_node": "node3.example.com"}, "in none of the node groups"),
        ]:
            self.assertIn(word, self.refused(403, "PUT", path, body))
        for node in ("target_node", "secondary_node"):
            self.refused(403, "PUT", f"/2/instances/{MINE}/failover", {node: "node3.example.com"})
        self.refused(403, "POST", f"/2/instances/{MINE}/recreate-disks", {"nodes": ["node3.example.com"]})
        self.refused(403, "PUT", f"/2/instances/{MINE}/prepare-export?mode=remote")

    def test_tags(self) -> None:
        """Tags may be changed, but not those that say what is in scope."""
        path = f"/2/instances/{MINE}/tags"
        self.done("PUT", f"{path}?tag=new")
        self.done("DELETE", f"{path}?tag=nice")
        self.refused(403, "DELETE", f"{path}?tag=nice&tag=web")
        self.refused(404, "PUT", f"/2/instances/{THEIRS}/tags?tag=web")


class JobTests(ScopeCase):
    """Jobs: one sees those about instances in scope and one's own, and cancels one's own."""

    def setUp(self) -> None:
        """A job each about mine and theirs, by the administrator."""
        super().setUp()
        self.mine = self.done("PUT", f"/2/instances/{MINE}/shutdown", {}, user="root")
        self.theirs = self.done("PUT", f"/2/instances/{THEIRS}/shutdown", {}, user="root")
        self.verify = self.done("PUT", "/2/redistribute-config", user="root")

    def test_seen(self) -> None:
        """A job about mine is there, all others look as if they were not."""
        ids = {each["id"] for each in self.done("GET", "/2/jobs")}
        self.assertIn(self.mine, ids)
        self.assertFalse(ids & {self.theirs, self.verify})
        self.assertEqual({each["id"] for each in self.done("GET", "/2/jobs?bulk=1")}, ids)
        self.assertNotIn("ops", self.done("GET", "/2/query/job?fields=id")["fields"][0].values())
        query = self.done("GET", "/2/query/job?fields=id")
        self.assertEqual({row[0][1] for row in query["data"]}, ids)
        hidden, gone = self.done("GET", f"/2/jobs/{self.theirs}"), self.done("GET", "/2/jobs/999999")
        self.assertEqual({**hidden, "id": 0}, {**gone, "id": 0})
        self.assertIsNone(hidden["status"])

    def test_wait(self) -> None:
        """Others are not waited for."""
        wait = {"fields": ["id"]}
        self.assertEqual(self.done("GET", f"/2/jobs/{self.mine}/wait", wait)["job_info"], [self.mine])
        self.refused(404, "GET", f"/2/jobs/{self.theirs}/wait", wait)

    def test_cancel(self) -> None:
        """One's own are cancelled; of others one sees nothing, or sees but may not."""
        self.assertIn("cancel jobs of others", self.refused(403, "DELETE", f"/2/jobs/{self.mine}"))
        self.refused(404, "DELETE", f"/2/jobs/{self.theirs}")
        own = self.done("PUT", f"/2/instances/{MINE}/startup")
        self.assertEqual(len(self.done("DELETE", f"/2/jobs/{own}")), 2)
        self.refused(403, "DELETE", f"/2/jobs/{own}", user="other")

    def test_own_stays(self) -> None:
        """A job of one's own is seen even when its instance is gone, and nobody else in the scope sees it then."""
        job = self.done("DELETE", f"/2/instances/{MINE}", {})
        self.cluster.pass_time(120)
        self.assertEqual(self.done("GET", f"/2/jobs/{job}")["status"], "success")
        self.assertIsNone(self.done("GET", f"/2/jobs/{job}", user="other")["status"])

    def test_no_forging(self) -> None:
        """Who asked for a job cannot be made up."""
        forged = {"timeout": 60, "reason": [[CALLER_SOURCE, "other", 1]]}
        job = self.done("PUT", f"/2/instances/{MINE}/shutdown", forged)
        (op,) = self.done("GET", f"/2/jobs/{job}")["ops"]
        self.assertEqual([entry[1] for entry in op["reason"] if entry[0] == CALLER_SOURCE], ["web"])

    def test_depends(self) -> None:
        """A job may wait for those that one sees."""
        self.done("PUT", f"/2/instances/{MINE}/startup", {"depends": [[self.mine, ["success"]]]})
        self.refused(404, "PUT", f"/2/instances/{MINE}/startup", {"depends": [[self.theirs, ["success"]]]})

    def test_depends_on_the_previous(self) -> None:
        """A job that is named by its distance is somebody else's, most likely."""
        self.refused(403, "PUT", f"/2/instances/{MINE}/startup", {"depends": [[-1, ["success"]]]})


class GroupTests(ScopeCase):
    """Scopes by node group: the cluster's only group is not theirs until they are told so."""

    def test_group(self) -> None:
        """An instance is in scope by the group of its primary node; new ones name a node of it."""
        self.assertEqual(self.done("GET", "/2/instances", user="rack"), [])
        self.refused(403, "POST", "/2/instances", CREATE, user="rack")
        group = next(iter(self.cluster.config.nodegroups.values())).name
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate({"users": f"rack pw write,group={group}"}).gate)
        self.assertEqual(len(self.done("GET", "/2/instances", user="rack")), 2)
        self.done("PUT", f"/2/instances/{THEIRS}/shutdown", {}, user="rack")
        self.assertIsInstance(self.done("POST", "/2/instances", CREATE, user="rack"), int)
        message = self.refused(403, "POST", "/2/instances", {**CREATE, "pnode": None, "iallocator": "a"}, user="rack")
        self.assertIn(f"a primary node (pnode) of node group '{group}'", message)
        self.refused(403, "POST", "/2/instances", {**CREATE, "snode": "node99"}, user="rack")


del ScopeCase, ClusterCase

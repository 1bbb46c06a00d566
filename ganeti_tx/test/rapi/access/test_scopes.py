"""Scoped users, before a whole cluster."""

from typing import Any

from ganeti_tx.model.scope import SCOPES_SOURCE
from ganeti_tx.model.signature import CALLER_SOURCE, signature_of
from ganeti_tx.rapi.access.scope_rows import SCOPE_FIELDS
from ganeti_tx.rapi.access.scoped_calls import AT_ONCE, parts_of
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.rapi.access.gates import MemoryGate
from ganeti_tx.test.rapi.access.scope_case import CREATE, MINE, THEIRS, USERS, ScopeCase
from ganeti_tx.test.rapi.requests import Rapi


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

    def test_filter_errors(self) -> None:
        """What a filter cannot be asked of tells nothing of instances outside; of those inside it says why."""
        for term in (["=~", "be/maxmem", "x"], ["<", "tags", 1], ["=~", "uuid", "(.*.*.*.*.*.*)x"]):
            for body in (["&", ["=", "name", THEIRS], term], ["&", term, ["=", "name", THEIRS]], ["!", term]):
                theirs = {"fields": ["name"], "qfilter": ["&", ["!=", "name", MINE], body]}
                self.assertEqual(self.done("PUT", "/2/query/instance", theirs)["data"], [], body)
        mine = {"fields": ["name"], "qfilter": ["&", ["=", "name", MINE], ["=~", "be/maxmem", "x"]]}
        self.assertIn("field 'be/maxmem' holds 128", self.refused(400, "PUT", "/2/query/instance", mine))
        self.refused(400, "PUT", "/2/query/instance", {"fields": ["name"], "qfilter": []})

    def test_in_parts(self) -> None:
        """More rows than a filter may name come in parts."""
        self.assertEqual([len(part) for part in parts_of(list(range(2 * AT_ONCE + 1)))], [AT_ONCE, AT_ONCE, 1])
        self.assertEqual(list(parts_of([])), [()])

    def test_nothing_is_asked_of_others(self) -> None:
        """Whatever is asked for, the nodes are not asked about instances outside: that would take a time that tells of them."""
        asked = {"fields": ["name", "status"], "qfilter": ["=", "status", "running"]}
        self.assertEqual(
            self.done("PUT", "/2/query/instance", asked, user="other")["data"], [[[0, MINE], [0, "running"]]]
        )
        self.luxi_seen.calls.clear()
        self.refused(404, "GET", f"/2/instances/{THEIRS}")
        self.assertEqual([args[1] for method, args in self.luxi_seen.calls], [list(SCOPE_FIELDS)])

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
            ({"nics": [{"ip": "192.0.2.2"}]}, "addresses of network cards, such as '192.0.2.2', only pool or none"),
            ({"nics": [{"ip": "auto"}]}, "such as 'auto'"),
            ({"conflicts_check": False}, "'conflicts_check'"),
            ({"name": "node2.example.com"}, "'node2.example.com' is the name of a node or of the cluster"),
            ({"hvparams": {"kernel_path": "/etc/shadow"}}, "'kernel_path' in 'hvparams'"),
            ({"hvparams": {"kvm_extra": "-x"}}, "'kvm_extra' in 'hvparams'"),
            ({"hvparams": {"kernel_args": "x' extra"}}, "'kernel_args' in 'hvparams'"),
            ({"hvparams": {"disk_type": "scsi-generic"}}, "'disk_type' in 'hvparams' as 'scsi-generic'"),
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

    def test_hypervisor(self) -> None:
        """Where none is named it is the cluster's, which is judged, too, and stays so whatever the cluster's is later."""
        create = {**CREATE, "pnode": None, "iallocator": "some", "tags": ["web"]}
        job = self.done("POST", "/2/instances", create)
        self.assertEqual(self.done("GET", f"/2/jobs/{job}")["ops"][0]["hypervisor"], "fake")
        self.cluster.pass_time(60)
        self.ok("gnt-cluster modify --enabled-hypervisors=chroot,fake")
        self.assertIn("the hypervisor 'chroot'", self.refused(403, "POST", "/2/instances", create))
        self.assertIn(
            "the hypervisor 'chroot'", self.refused(403, "POST", "/2/instances", {**create, "hypervisor": None})
        )
        self.done("POST", "/2/instances", {**create, "hypervisor": "fake"})

    def test_modify(self) -> None:
        """Changes reach what belongs to the instance, and nothing beyond it."""
        path = f"/2/instances/{MINE}/modify"
        self.let_through("PUT", path, {"beparams": {"maxmem": 256}, "hvparams": {"acpi": True}})
        self.let_through("PUT", path, {"disks": [["add", {"size": 1024}], [0, {"mode": "ro"}]], "nics": [["add", {}]]})
        self.let_through("PUT", path, {"nics": [["modify", 0, {"ip": "none"}], ["modify", 0, {"ip": "pool"}]]})
        for body, word in [
            ({"disks": [["attach", {"uuid": "other"}]]}, "attach disks"),
            ({"disks": [["detach", {}]]}, "detach disks"),
            ({"nics": [["add", {"network": "dmz"}]]}, "'network' in 'nics'"),
            ({"nics": [["modify", 0, {"ip": "192.0.2.2"}]]}, "such as '192.0.2.2'"),
            ({"nics": [[0, {"ip": "169.254.0.1"}]]}, "such as '169.254.0.1'"),
            ({"conflicts_check": False, "nics": [["add", {}]]}, "'conflicts_check'"),
            ({"hvparams": {"cdrom_image_path": "/dev/sda"}}, "'cdrom_image_path'"),
            ({"instance_uuid": "other"}, "'instance_uuid'"),
            ({"remote_node": "node3.example.com"}, "in none of the node groups"),
        ]:
            self.assertIn(word, self.refused(403, "PUT", path, body))
        for node in ("target_node", "secondary_node"):
            self.refused(403, "PUT", f"/2/instances/{MINE}/failover", {node: "node3.example.com"})
        self.refused(403, "POST", f"/2/instances/{MINE}/recreate-disks", {"nodes": ["node3.example.com"]})
        self.refused(403, "PUT", f"/2/instances/{MINE}/prepare-export?mode=remote")

    def test_rename(self) -> None:
        """Any name that is no host's and no address, be it in DNS or not."""
        path, unchecked = f"/2/instances/{MINE}/rename", {"name_check": False, "ip_check": False}
        hosts = ("node1.example.com", "NODE1.example.com", "node1", "node1.example", "cluster.example.com")
        for name in (*hosts, "localhost", "LOCALHOST.localdomain", "127.53.35.2", "127.1", "2130706433", "0x7F000001"):
            refused = self.refused(403, "PUT", path, {"new_name": name, **unchecked})
            self.assertIn(f"'{name}' is the name of a node or of the cluster", refused)
        self.let_through("PUT", path, {"new_name": "web4.example.com", **unchecked})

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

    def test_read_once(self) -> None:
        """The opcodes of all jobs are not read for each question, and a job that is new since is there all the same."""
        ids = {each["id"] for each in self.done("GET", "/2/jobs")}
        self.luxi_seen.calls.clear()
        job = self.done("PUT", f"/2/instances/{MINE}/tags?tag=x", user="root")
        self.done("PUT", f"/2/instances/{THEIRS}/tags?tag=x", user="root")
        self.assertEqual({each["id"] for each in self.done("GET", "/2/jobs")}, {*ids, job})
        self.done("GET", "/2/query/job?fields=id")
        reads = [args[2:] for method, args in self.luxi_seen.calls if method.startswith("Query") and "ops" in args[1]]
        self.assertEqual(reads, [[["&", [">=", "id", job], ["<=", "id", job + 1]]]])

    def test_filter_errors(self) -> None:
        """A filter is asked about nothing of jobs that are not seen."""
        for term in (["=~", "priority", "x"], ["<", "summary", 1], ["=~", "ops", "x"]):
            theirs = {"fields": ["id"], "qfilter": ["&", ["=", "id", self.theirs], term]}
            self.assertEqual(self.done("PUT", "/2/query/job", theirs)["data"], [], term)
        mine = {"fields": ["id"], "qfilter": ["&", ["=", "id", self.mine], ["=", "priority", 0]]}
        self.assertEqual(self.done("PUT", "/2/query/job", mine)["data"], [[[0, self.mine]]])
        mine["qfilter"] = ["&", ["=", "id", self.mine], ["=~", "priority", "x"]]
        self.refused(400, "PUT", "/2/query/job", mine)

    def test_archived(self) -> None:
        """Jobs in the archive are there for who asks for them."""
        self.cluster.pass_time(120)
        for job in (self.mine, self.theirs):
            self.luxi_seen.client.archive_job(job)
        everything = {"fields": ["id"], "qfilter": ["?", "archived"]}
        self.assertEqual(self.done("PUT", "/2/query/job", everything)["data"], [[[0, self.mine]]])
        put(self.cluster.master.disk, self.cluster.paths.archived_job_file(self.theirs), b"damaged")
        self.assertEqual(self.done("PUT", "/2/query/job", everything)["data"], [[[0, self.mine]]])

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
        forged = {"timeout": 60, "reason": [[CALLER_SOURCE, "other", 1], [SCOPES_SOURCE, "tag=db", 1]]}
        job = self.done("PUT", f"/2/instances/{MINE}/shutdown", forged)
        (((op,),),) = self.luxi_seen.client.query_jobs([job], ["ops"])
        self.assertEqual([entry[1] for entry in op["reason"] if entry[0] == CALLER_SOURCE], ["web"])
        self.assertEqual([entry[1] for entry in op["reason"] if entry[0] == SCOPES_SOURCE], ["tag=web"])
        wait = self.done("GET", f"/2/jobs/{job}/wait", {"fields": ["ops"]})["job_info"][0]
        query = self.done("GET", "/2/query/job?fields=id,ops")["data"]
        for told in (
            self.done("GET", f"/2/jobs/{job}")["ops"],
            wait,
            *(ops for (_, each), (_, ops) in query if each == job),
        ):
            (shown,) = told
            self.assertEqual(signature_of(shown["reason"]), ())

    def test_jobs_of_a_time_without_scopes(self) -> None:
        """Nor is what somebody of that name asked for who was kept to nothing one's own."""
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate({"users": "web pw @admin"}).gate)
        job = self.done("PUT", f"/2/instances/{THEIRS}/tags?tag=x")
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate({"users": USERS}).gate)
        self.assertIsNone(self.done("GET", f"/2/jobs/{job}")["status"])
        self.refused(404, "DELETE", f"/2/jobs/{job}")

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


del ScopeCase

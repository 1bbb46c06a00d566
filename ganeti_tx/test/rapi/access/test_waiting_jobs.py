"""Jobs of scoped users that wait while the cluster changes."""

from typing import Any

from ganeti_tx.luxi.client import Client
from ganeti_tx.model.scope import SCOPES_SOURCE
from ganeti_tx.queue.withdrawn import REFUSED
from ganeti_tx.rapi.access.tokens import hash_of, new_secret
from ganeti_tx.rapi.access.withdrawal import withdraw_jobs
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.rapi.access.gates import MemoryGate
from ganeti_tx.test.rapi.access.scope_case import CREATE, MINE, THEIRS, ClusterLuxi, ScopeCase
from ganeti_tx.test.rapi.requests import NOW, Rapi

UNCHECKED = {"name_check": False, "ip_check": False}


class Late(ClusterLuxi):
    """Has somebody's rights taken away just before what he asks for is submitted."""

    def __init__(self, client: Client, caller: str) -> None:
        super().__init__(client)
        self.caller = caller

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        if method == "SubmitJob":
            withdraw_jobs(self.client, self.caller, NOW)
        return await super().call(method, args)


class WaitingTests(ScopeCase):
    """What somebody in a scope asked for is judged again when it is done."""

    def setUp(self) -> None:
        """What is asked for waits until the administrator has done what he does."""
        super().setUp()
        rule = '--predicates=[["reason",["=~","source","^gnt:library:"]]]'
        self.rule = self.ok(f"gnt-filter add --action=PAUSE {rule}").strip()

    def error_of(self, job: int) -> str:
        """Why a job fails that may go on now."""
        self.ok(f"gnt-filter delete {self.rule}")
        self.cluster.pass_time(120)
        ((status, (result,)),) = self.luxi_seen.client.query_jobs([job], ["status", "opresult"])
        self.assertEqual(status, "error", result)
        return str(result)

    def rename(self, name: str) -> None:
        """Mine is called otherwise from now on."""
        self.ok(f"gnt-instance shutdown {MINE}")
        self.ok(f"gnt-instance rename --force --no-name-check --no-ip-check {MINE} {name}")

    def test_name_of_another(self) -> None:
        """A name that is another instance's by then does not give that to him."""
        job = self.done("DELETE", f"/2/instances/{MINE}", {})
        self.rename("web7.example.com")
        self.ok("gnt-instance add -t file -s 1G -o noop -n node2 --tags db web1")
        self.assertIn(
            f"instance {MINE} is not, or not any more, within the scopes of whoever asked for this", self.error_of(job)
        )
        self.assertIn(MINE, self.ok("gnt-instance list --no-headers -o name"))

    def test_name_that_another_begins_with(self) -> None:
        """Nor does one that is gone, and with which the name of another begins."""
        job = self.done("DELETE", f"/2/instances/{MINE}", {})
        self.rename(f"{MINE}.org")
        self.assertIn(
            f"instance {MINE} is not, or not any more, within the scopes of whoever asked for this", self.error_of(job)
        )

    def test_name_that_several_begin_with(self) -> None:
        """Nor does it tell what these are called."""
        job = self.done("DELETE", f"/2/instances/{MINE}", {})
        self.rename(f"{MINE}.org")
        self.ok(
            f"gnt-instance add -t file -s 1G -o noop -n node2 --no-name-check --no-ip-check --tags db {MINE}.secret"
        )
        told = self.error_of(job)
        self.assertIn(f"instance {MINE} is not, or not any more, within the scopes of whoever asked for this", told)
        self.assertNotIn("secret", told)
        self.assertNotIn("tag=web", told)

    def test_tag_taken_away(self) -> None:
        """What has left the scope is not his any more, whatever he asked for before."""
        jobs = [
            self.done("DELETE", f"/2/instances/{MINE}", {}),
            self.done("GET", f"/2/instances/{MINE}/info"),
            self.done("PUT", f"/2/instances/{MINE}/tags?tag=new"),
        ]
        self.ok(f"gnt-instance remove-tags {MINE} web")
        self.assertIn(f"instance {MINE} is not, or not any more", self.error_of(jobs[0]))
        rows = self.luxi_seen.client.query_jobs(jobs, ["status"])
        self.assertEqual(rows, [["error"]] * 3)

    def test_name_of_a_host(self) -> None:
        """Nor may an instance be called as a node is by then."""
        create = {**CREATE, "pnode": None, "iallocator": "some", "tags": ["web"], "name": "web9.example.com"}
        job = self.done("POST", "/2/instances", {**create, "name_check": False, "ip_check": False})
        self.ok("gnt-cluster rename --force web9")
        self.assertIn("'web9.example.com' is the name of a node or of the cluster", self.error_of(job))

    def test_name_that_stands_for_a_host(self) -> None:
        """Nor by a name of his own that stands for it: whoever looks after that in DNS may say so at any time."""
        job = self.done("PUT", f"/2/instances/{MINE}/rename", {"new_name": "alias.org", "ip_check": False})
        hosts = f"{self.cluster.nodes['node3.example.com'].address} node3.example.com alias.org\n"
        put(self.cluster.master.disk, self.cluster.paths.etc_hosts, hosts.encode())
        self.assertIn("'node3.example.com' is the name of a node or of the cluster", self.error_of(job))

    def test_short_name_of_another(self) -> None:
        """Nor by what the name of another's begins with: whoever typed that meant the other; what his own begin with is his."""
        self.rename("mine.example.com")
        jobs = [
            self.done("PUT", "/2/instances/mine.example.com/rename", {"new_name": name, **UNCHECKED})
            for name in ("web2.zzz", "web2")
        ]
        told = self.error_of(jobs[1])
        self.assertIn("another instance is called 'web2' for short", told)
        self.assertNotIn(THEIRS, told)
        (((result,),),) = self.luxi_seen.client.query_jobs([jobs[0]], ["opresult"])
        self.assertIn("another instance is called 'web2' for short, as 'web2.zzz' would be", str(result))
        job = self.done("PUT", "/2/instances/mine.example.com/rename", {"new_name": "mine", **UNCHECKED})
        self.cluster.pass_time(120)
        self.assertEqual(self.done("GET", f"/2/jobs/{job}")["status"], "success")

    def test_node_of_another_group(self) -> None:
        """Nor does a node take his instances that has left his group."""
        group = next(iter(self.cluster.config.nodegroups.values())).name
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate({"users": f"rack pw write,group={group}"}).gate)
        job = self.done("POST", "/2/instances", {**CREATE, "name": "web3"}, user="rack")
        self.ok("gnt-group add other")
        self.ok("gnt-group assign-nodes --force other node2")
        self.assertIn(
            "node node2.example.com is not, or not any more, within the scopes of whoever", self.error_of(job)
        )

    def test_what_cannot_be_judged(self) -> None:
        """Scopes that nobody can read, and opcodes that name no instance, let nothing be done."""
        for text, told in [("nonsense", "is no scope"), ("tag=web", "may not submit OP_CLUSTER_REDIST_CONF")]:
            op = {"OP_ID": "OP_CLUSTER_REDIST_CONF", "reason": [[SCOPES_SOURCE, text, 1]]}
            job = self.luxi_seen.client.submit_job([op])
            self.cluster.pass_time(60)
            ((status, (result,)),) = self.luxi_seen.client.query_jobs([job], ["status", "opresult"])
            self.assertEqual(status, "error")
            self.assertIn(told, str(result))

    def test_withdrawn(self) -> None:
        """What waits is cancelled when somebody's rights are taken away, and nothing of others."""
        jobs = [self.done("DELETE", f"/2/instances/{MINE}", {}, user=user) for user in ("web", "other")]
        whole = self.done("PUT", f"/2/instances/{MINE}/tags?tag=x", user="root")
        client = self.luxi_seen.client
        self.assertEqual(withdraw_jobs(client, "web", NOW), [f"Job {jobs[0]} canceled"])
        self.assertEqual(client.query_jobs(jobs, ["status"]), [["canceled"], ["queued"]])
        self.assertEqual(withdraw_jobs(client, "web", NOW), [])
        self.assertEqual(withdraw_jobs(client, "root", NOW), [f"Job {whole} canceled"])
        self.ok(f"gnt-filter delete {self.rule}")
        for _ in range(1000):
            if client.query_jobs([jobs[1]], ["status"]) == [["running"]]:
                break
            self.cluster.pass_time(0.01)
        self.assertEqual(
            withdraw_jobs(client, "other", NOW), [f"Job {jobs[1]} runs already; 'gnt-job cancel {jobs[1]}' stops it"]
        )

    def test_token_without_scopes(self) -> None:
        """So is what was asked for with a token that keeps to nothing, and what such a job has submitted."""
        secret = new_secret(SeededEntropy().random_bytes)
        files = {"tokens": f"ci {hash_of(secret)} never write"}
        self.rapi = Rapi(luxi=self.luxi_seen, gate=MemoryGate(files).gate)
        self.ok(f"gnt-filter delete {self.rule}")
        self.ok('gnt-filter add --action=PAUSE --predicates=[["opcode",["=","OP_ID","OP_INSTANCE_MIGRATE"]]]')
        headers = {"Authorization": f"Bearer {secret}"}
        for path in ("/2/nodes/node2.example.com/migrate", f"/2/instances/{MINE}/migrate"):
            self.assertEqual(self.rapi.request("POST" if "nodes" in path else "PUT", path, {}, headers).status, 200)
        self.cluster.pass_time(60)
        client = self.luxi_seen.client
        waiting = [job for job, status in client.query_jobs(None, ["id", "status"]) if status == "queued"]
        self.assertEqual(len(waiting), 3)
        self.assertEqual(withdraw_jobs(client, "token:ci", NOW), [f"Job {job} canceled" for job in waiting])

    def test_submitted_later(self) -> None:
        """Nor is what was let in before, and is submitted only when the rights are gone; who asks after that is not meant."""
        gate = self.rapi.gate
        client = self.luxi_seen.client
        for caller in ("web", "root"):
            self.rapi = Rapi(luxi=Late(client, caller), gate=gate)
            self.assertEqual(self.refused(403, "PUT", f"/2/instances/{MINE}/tags?tag=x", user=caller), REFUSED)
            self.done("PUT", f"/2/instances/{MINE}/tags?tag=x", user="other")
            self.rapi = Rapi(luxi=Late(client, caller), gate=gate, now=lambda: NOW + 1)
            job = self.done("PUT", f"/2/instances/{MINE}/tags?tag=y", user=caller)
            self.assertEqual(withdraw_jobs(client, caller, NOW), [])
            self.assertEqual(client.query_jobs([job], ["status"]), [["queued"]])

    def test_submitted_by_a_job(self) -> None:
        """Nor what a job submits that ran already; it goes on itself, and tells why these were refused."""
        self.ok(f"gnt-filter delete {self.rule}")
        job = self.done("POST", "/2/nodes/node2.example.com/migrate", {}, user="root")
        client = self.luxi_seen.client
        client.call("WithdrawCaller", ["root", NOW])
        newest = max(number for (number,) in client.query_jobs(None, ["id"]))
        self.cluster.pass_time(120)
        ((status, (result,)),) = client.query_jobs([job], ["status", "opresult"])
        self.assertEqual((status, result), ("success", {"jobs": [[False, REFUSED]] * 2}))
        self.assertEqual(max(number for (number,) in client.query_jobs(None, ["id"])), newest)

    def test_still_his(self) -> None:
        """What is his all the time is done."""
        job = self.done("DELETE", f"/2/instances/{MINE}", {})
        self.ok(f"gnt-filter delete {self.rule}")
        self.cluster.pass_time(120)
        self.assertEqual(self.done("GET", f"/2/jobs/{job}")["status"], "success")
        (((op,),),) = self.luxi_seen.client.query_jobs([job], ["ops"])
        self.assertIn(["gnt:rapi:scopes", "tag=web"], [entry[:2] for entry in op["reason"]])


del ScopeCase

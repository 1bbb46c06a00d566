"""The ground of tests of scoped users: a whole cluster, with instances in and out of their scopes."""

from html import unescape
from http import HTTPStatus
from typing import Any

from ganeti_tx.luxi.client import Client
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

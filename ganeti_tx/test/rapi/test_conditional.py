"""Entity tags: what has not changed is not sent again, and what has changed is not changed unawares."""

import gzip
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.rapi.http.etag import Version, listed, tag_of, version_in
from ganeti_tx.rapi.http.negotiation import takes_gzip
from ganeti_tx.rapi.http.representation import LONG, Representation
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.runtime.threads import IThreads
from ganeti_tx.test.rapi.requests import Answer, FakeLuxi, Rapi

UUID = "6dd7b0f2-21d8-4ee7-b6ad-f5c4a4b1f3a5"


async def shown(call: Call) -> object:
    """One instance, as a query tells."""
    [row] = await call.luxi.query_instances([call.parts["instance_name"]], ["uuid", "serial_no", "status"])
    return dict(zip(("uuid", "serial_no", "status"), row, strict=True))


async def many(call: Call) -> object:
    """Many of them."""
    return await call.luxi.query_instances([], ["name"])


async def tags(call: Call) -> object:
    """The tags of one."""
    return await call.luxi.query_tags("instance", call.parts["instance_name"])


async def info(call: Call) -> object:
    """The cluster."""
    return await call.luxi.query_cluster_info()


async def submit(call: Call) -> object:
    """A job."""
    return await call.luxi.submit_job([])


def operation(method: str, path: str, run: Any) -> Operation:
    """One that everybody may."""
    return Operation(method, path, "test", frozenset(), run, "Test", {})  # type: ignore[arg-type]


OPERATIONS = (
    operation("GET", "/2/instances", many),
    operation("GET", "/2/instances/{instance_name}", shown),
    operation("DELETE", "/2/instances/{instance_name}", submit),
    operation("PUT", "/2/instances/{instance_name}/startup", submit),
    operation("GET", "/2/instances/{instance_name}/tags", tags),
    operation("PUT", "/2/instances/{instance_name}/tags", submit),
    operation("GET", "/2/info", info),
    operation("PUT", "/2/modify", submit),
)
WEB1 = "/2/instances/web1"


class TagTests(SynchronousTestCase):
    """Tags as text."""

    def test_object(self) -> None:
        """The tag of an object tells its uuid and serial number; that of anything else does not."""
        tag = tag_of({"uuid": UUID, "serial_no": 7, "status": "running"}, b"x")
        self.assertEqual(version_in(tag), Version(UUID, 7))
        self.assertIsNone(version_in(tag_of([], b"x")))

    def test_listed(self) -> None:
        """Weak tags and compressed ones are those of the same thing; what is no tag is none."""
        self.assertEqual(listed('W/"a", "b-gzip" ,"c"'), {"a", "b", "c"})
        self.assertEqual((listed(" * "), listed('"", "*"'), listed("")), ({"*"}, set(), set()))

    def test_gzip_asked_for(self) -> None:
        """A weight of 0 refuses gzip; a star takes it."""
        for header, taken in (
            ("gzip, deflate", True),
            ("*", True),
            ("gzip;q=0, *", False),
            ("br", False),
            (None, False),
        ):
            self.assertEqual((header, takes_gzip(header)), (header, taken))


class ConditionalCase(SynchronousTestCase):
    """A master with one instance."""

    def setUp(self) -> None:
        self.serial, self.status, self.tags = 7, "running", ["a"]
        self.luxi = FakeLuxi(
            {
                "QueryInstances": lambda names, fields, lock: self.rows(fields),
                "QueryTags": lambda kind, name: self.tags,
                "QueryClusterInfo": lambda: {"tags": self.tags},
                "Query": lambda what, fields, _: {"data": [[[0, UUID], [0, self.serial]]] if self.serial else []},
                "SubmitJob": 1234,
            }
        )
        self.rapi = Rapi(operations=OPERATIONS, luxi=self.luxi)

    def rows(self, fields: list[str]) -> list[list[object]]:
        """One instance, or the names of many."""
        if fields == ["name"]:
            return [[f"web{number}"] for number in range(1000)]
        return [[UUID, self.serial, self.status]]

    def submitted(self) -> int:
        """How many jobs were."""
        return sum(method == "SubmitJob" for method, _ in self.luxi.calls)

    def tag(self, path: str, **headers: str) -> str:
        """What GET tells."""
        return self.rapi.get(path, headers).headers["etag"]


class NotModifiedTests(ConditionalCase):
    """If-None-Match."""

    def known(self, path: str, tag: str, **headers: str) -> Answer:
        """The answer for who has something already."""
        return self.rapi.get(path, {"If-None-Match": tag, **headers})

    def test_same(self) -> None:
        """What is as it was is not sent; the answer has the tag all the same."""
        tag = self.tag(WEB1)
        answer = self.known(WEB1, f'"x", W/{tag}')
        self.assertEqual((answer.status, answer.body, answer.headers["etag"]), (304, b"", tag))
        self.assertNotIn("content-length", answer.headers)
        self.assertEqual(self.known(WEB1, "*").status, 304)

    def test_changed(self) -> None:
        """What is not as it was is sent, even if the object in the configuration is the same."""
        tag = self.tag(WEB1)
        self.status = "ERROR_down"
        self.assertEqual(self.known(WEB1, tag).status, 200)

    def test_compressed(self) -> None:
        """What is compressed has a tag of its own, which is known in both forms."""
        zipped = {"Accept-Encoding": "gzip"}
        tag, plain = self.tag("/2/instances", **zipped), self.tag("/2/instances")
        self.assertNotEqual(tag, plain)
        for known in (tag, plain):
            for headers in (zipped, {}):
                self.assertEqual(self.known("/2/instances", known, **headers).status, 304)


@implementer(IThreads)
class ThreadByHand:
    """The test says what comes of the work."""

    def __init__(self) -> None:
        self.waiting: list[Deferred[Any]] = []

    def run(self, func: Callable[..., Any], *args: object) -> "Deferred[Any]":
        """As IThreads."""
        self.waiting.append(Deferred())
        return self.waiting[-1]


class GzipTests(ConditionalCase):
    """Accept-Encoding."""

    def test_large(self) -> None:
        """A large body is compressed for who asks; caches are told."""
        zipped, plain = self.rapi.get("/2/instances", {"Accept-Encoding": "gzip"}), self.rapi.get("/2/instances")
        self.assertEqual(zipped.headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(zipped.body), plain.body)
        self.assertLess(len(zipped.body), len(plain.body) // 3)
        self.assertIn("Accept-Encoding", plain.headers["vary"])
        self.assertNotIn("content-encoding", plain.headers)

    def test_once(self) -> None:
        """What is large is compressed in a thread, once for all who ask at the same time."""
        threads = ThreadByHand()
        representation = Representation(body=b"x" * LONG, tag="")
        asked = [Deferred.fromCoroutine(representation.compressed(threads)) for _ in range(3)]
        asked[0].cancel()
        self.failureResultOf(asked[0], CancelledError)
        [work] = threads.waiting
        work.callback(b"zipped")
        self.assertEqual([self.successResultOf(each) for each in asked[1:]], [b"zipped"] * 2)
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(representation.compressed(threads))), b"zipped")

    def test_small(self) -> None:
        """What fits into a packet anyway is not."""
        self.assertNotIn("content-encoding", self.rapi.get(WEB1, {"Accept-Encoding": "gzip"}).headers)


class PreconditionTests(ConditionalCase):
    """If-Match."""

    def change(self, tag: str, method: str = "PUT", path: str = f"{WEB1}/startup") -> int:
        """The status of a change on condition; a job is submitted if, and only if, it succeeds."""
        before = self.submitted()
        status = self.rapi.request(method, path, headers={"If-Match": tag}).status
        self.assertEqual(self.submitted() - before, status == 200)
        return status

    def test_same(self) -> None:
        """A change goes ahead while the object has the serial number that the client saw, whatever its status is."""
        tag = self.tag(WEB1)
        self.status = "ADMIN_down"
        self.assertEqual((self.change(tag), self.change(f'"0.1.2", {tag}'), self.change("*")), (200, 200, 200))
        self.assertEqual(self.change(tag, "DELETE", WEB1), 200)

    def test_changed(self) -> None:
        """When the object was changed since, or is gone, nothing is done."""
        tag = self.tag(WEB1)
        self.serial = 8
        self.assertEqual((self.change(tag), self.change(tag, "DELETE", WEB1), self.change('""')), (412, 412, 412))
        self.serial = 0
        self.assertEqual((self.change(tag), self.change("*")), (412, 412))

    def test_tags(self) -> None:
        """The tag of what GET shows at the same place will do too."""
        path = f"{WEB1}/tags"
        tag = self.tag(path)
        self.assertEqual(self.change(tag, path=path), 200)
        self.tags = ["b"]
        self.assertEqual((self.change(tag, path=path), self.change(self.tag(path), path=path)), (412, 200))

    def test_cluster(self) -> None:
        """The cluster as a whole has the tag of its settings."""
        tag = self.tag("/2/info")
        self.assertEqual(self.change(tag, path="/2/modify"), 200)
        self.tags = ["b"]
        self.assertEqual(self.change(tag, path="/2/modify"), 412)

    def test_cluster_is_no_instance(self) -> None:
        """The cluster's tag tells nothing of an instance."""
        self.assertEqual(self.change(self.tag("/2/info")), 412)

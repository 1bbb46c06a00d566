"""Whom a node hears, and which nodes are called: by certificates."""

import os
import time

from ganeti_tx.errors import GanetiError
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.client import HttpNodeRpc
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import NotCandidate
from ganeti_tx.runtime.certificates import digest, issue_client, issue_server
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.pinned_certificates import remember_joining
from ganeti_tx.test.real.node_call_case import (
    AUTHORITY,
    CANDIDATE,
    FOREIGN,
    LIMIT,
    NODE,
    NOT_ADMITTED,
    NOW,
    SERVER,
    NodeCallCase,
    asynchronous,
    pause,
)


class NodeCallTrustTests(NodeCallCase):
    """Callers and nodes, right ones and wrong ones."""

    @asynchronous
    async def test_not_a_candidate(self) -> None:
        """A certificate of the cluster that is no candidate's may not call."""
        outcome = (await self.rpc(NOT_ADMITTED).call_many([NODE], Version(), LIMIT))["node1"]
        assert isinstance(outcome.error, NodeCallError)
        self.assertIsInstance(outcome.error.cause, NotCandidate)
        self.assertIn("master candidates", str(outcome.error))

    @asynchronous
    async def test_not_admitted_with_much_to_say(self) -> None:
        """Who may not call is not listened to for long."""
        text = await self.fails(
            self.rpc(NOT_ADMITTED).call(NODE, UploadFile(path="/x", data=b"x" * 10**6), LIMIT), GanetiError
        )
        self.assertTrue("413" in text or "cannot reach" in text, text)
        await pause(0.2)

    @asynchronous
    async def test_candidates_change(self) -> None:
        """Who becomes a candidate may call at once, who ceases to be one may not, on a kept connection too."""
        rpc = self.rpc(NOT_ADMITTED)
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)
        certs = self.paths.ssconf_file("master_candidates_certs")
        self.write(certs, f"a={digest(CANDIDATE.certificate)}\nb={digest(NOT_ADMITTED.certificate)}\n".encode())
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)
        self.write(certs, b"\xff\xfe junk \xff=\xfe\n")
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)
        self.files.remove(certs)
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)

    @asynchronous
    async def test_foreign_certificate(self) -> None:
        """A certificate of another authority does not get through TLS; the caller hears of it in one line."""
        foreign = issue_client(FOREIGN, "node2", NOW)
        text = await self.fails(self.rpc(foreign).call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("cannot reach", text)

    @asynchronous
    async def test_foreign_node(self) -> None:
        """A node with another authority's certificate gets no call."""
        text = await self.fails(self.rpc(authority=FOREIGN).call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("certificate verify failed", text)

    def pinned(self, certificate: bytes) -> HttpNodeRpc:
        """A caller that knows the node by a certificate."""
        rpc = self.rpc()
        self.known(certificate)
        return rpc

    def known(self, certificate: bytes) -> None:
        """What the callers' simple configuration says from now on."""
        for key, value in (("node_primary_ips", "node1 127.0.0.1"), ("node_certs", f"node1={digest(certificate)}")):
            replace_file(self.caller_paths.ssconf_file(key), f"{value}\n".encode(), 0o644)

    @asynchronous
    async def test_pinned(self) -> None:
        """A node that shows the certificate by which the cluster knows it is called."""
        self.assertEqual(await self.pinned(SERVER.certificate).call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_impostor(self) -> None:
        """One that was a candidate, and has signed itself a certificate for the node's address, is told nothing."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        text = await self.fails(rpc.call(NODE, TestDelay(duration=0.0), LIMIT), NodeUnreachableError)
        self.assertIn("another certificate than the one", text)
        self.assertIn("--readd", text)
        self.assertEqual(self.started, 0)
        self.known(SERVER.certificate)  # the node was added again
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_joining(self) -> None:
        """A node that is set up anew is known by its new keys, too, before the configuration knows it."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        remember_joining(self.caller_paths, "127.0.0.1", digest(SERVER.certificate))
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_joined_long_ago(self) -> None:
        """Keys that were made for a node some time ago, and are not what the configuration knows, are nobody's."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        remember_joining(self.caller_paths, "127.0.0.1", digest(SERVER.certificate))
        long_ago = time.time() - 7200
        os.utime(self.caller_paths.joining_file("127.0.0.1"), (long_ago, long_ago))
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeUnreachableError)

    @asynchronous
    async def test_caller_signed_by_himself(self) -> None:
        """The authority's key does not make a candidate's name one's own: the digest of the certificate counts."""
        again = issue_client(AUTHORITY, "node2", NOW)
        text = await self.fails(self.rpc(again).call(NODE, Version(), LIMIT), NodeCallError)
        self.assertIn("403", text)

"""Disks travel between real processes."""

import os
import socket
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet import reactor as installed_reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest

from ganeti_tx.model.compression import packing, unpacking
from ganeti_tx.node.transfer.spec import Script
from ganeti_tx.runtime.addresses import is_own_address
from ganeti_tx.runtime.certificates import Identity, digest
from ganeti_tx.test.contracts.transfer import MAGIC, NODE1, NODE2, TransferContract
from ganeti_tx.test.real.transfer_ends import TransferEnds

reactor: Any = installed_reactor
SIZE = 5


class TransferProcessTests(TransferContract, TransferEnds):
    """The contract, and what else processes do."""

    async def test_known(self) -> None:
        """Who has the authority's key can sign himself a certificate with a node's name, and gets no disk for it."""
        shown = digest(Identity.from_bundle(self.paths[NODE2].server_pem.read_bytes(), "server.pem").certificate)
        before = self.content(NODE2)
        for name, known in (("a", "00:11"), ("disk0", f"00:11\n{NODE2}={shown}")):
            self.paths[NODE1].ssconf_file("node_certs").write_text(f"{NODE1}={shown}\n{NODE2}={known}\n")
            await self.begin(name, sender={"connect_limit": 1.0}, receiver={"connect_limit": 3.0})
            ended = await self.ended(NODE1, name)
            if name == "a":
                self.assertIn("another certificate than the one that the cluster knows", ended.error_message or "")
                self.assertTrue((await self.ended(NODE2, name)).exit_status)
                self.assertEqual(self.content(NODE2), before)
        self.assertEqual(ended.error_message, None)
        self.assertEqual((await self.ended(NODE2, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_version_6(self) -> None:
        """Over IPv6."""
        if not is_own_address("::1"):
            raise SkipTest("this machine has no IPv6")
        await self.begin(sender={"host": "::1"}, receiver={"host": "::1"})
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_packed(self) -> None:
        """With a tool that packs; what arrives is not packed."""
        await self.begin(sender={"filter": [*packing("gzip")]}, receiver={"filter": [*unpacking("gzip")]})
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_packed_and_refused(self) -> None:
        """A receiver that fails in the midst ends both, whoever waits for whom."""
        await self.begin(
            sender={"filter": [*packing("gzip")]}, receiver={"filter": [*unpacking("gzip")], "command": ["false"]}
        )
        for node in (NODE1, NODE2):
            self.assertTrue((await self.ended(node, "disk0")).exit_status)

    async def test_source_fails(self) -> None:
        """What is not the whole is told as a failure on both sides."""
        await self.begin(sender={"command": ["dd", "if=/nonexistent"]})
        self.assertIn("dd exited with status 1", (await self.ended(NODE1, "disk0")).error_message or "")
        self.assertIn("broken off", (await self.ended(NODE2, "disk0")).error_message or "")
        self.assertTrue(any("nonexistent" in line for line in (await self.ended(NODE1, "disk0")).recent_output))

    async def test_other_length(self) -> None:
        """A disk takes no more than it can have, and is not filled by less than it has, which both ends are told."""
        before = self.content(NODE2)
        for name, bounds, why in (
            ("a", {"least": 2, "most": SIZE - 1}, f"more than {SIZE - 1} MiB came, which the disk can have at most"),
            (
                "b",
                {"least": SIZE + 1, "most": SIZE + 9},
                f"only {SIZE << 20} bytes came, and the disk has {SIZE + 1} MiB",
            ),
        ):
            await self.begin(name, receiver=bounds)
            self.assertIn(why, (await self.ended(NODE2, name)).error_message or "")
            self.assertTrue((await self.ended(NODE1, name)).exit_status)
            if name == "a":
                self.assertEqual(self.content(NODE2)[bounds["most"] << 20 :], before[bounds["most"] << 20 :])
        await self.begin(receiver={"least": SIZE, "most": SIZE})
        self.assertEqual((await self.ended(NODE2, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_breaks_off(self) -> None:
        """Of a sender that breaks off it is told that, and not how much is missing, however it is packed."""
        packed = {"sender": {"filter": [*packing("gzip")]}, "receiver": {"filter": [*unpacking("gzip")]}}
        for name, how in (("a", {"sender": {}, "receiver": {}}), ("b", packed)):
            await self.begin(
                name,
                sender={"command": ["dd", "bs=1M", f"if={self.disk(NODE1)}", f"count={SIZE}x"], **how["sender"]},
                receiver={"least": SIZE, **how["receiver"]},
            )
            self.assertIn("broken off", (await self.ended(NODE2, name)).error_message or "")

    async def test_no_such_program(self) -> None:
        """A tool that is not installed is named."""
        await self.begin(sender={"filter": ["nosuchtool"]})
        self.assertIn("cannot start nosuchtool", (await self.ended(NODE1, "disk0")).error_message or "")

    async def test_killed(self) -> None:
        """A process that dies without a word has ended."""
        await self.begin("slow", sender={"command": ["sleep", "60"]})
        await self.until(NODE1, "slow", lambda status: status.connected)
        os.kill(int((self.paths[NODE1].import_export_dir / "slow" / "lock").read_text()), 9)
        self.assertIn("died", (await self.ended(NODE1, "slow")).error_message or "")
        self.assertTrue((await self.ended(NODE2, "slow")).exit_status)

    async def test_silent_strangers(self) -> None:
        """Who connects and says nothing, or nonsense, does not keep the other node out."""
        told = msgspec.structs.replace(self.spec(NODE2, sends=False), connect_limit=10.0)
        await self.ends[NODE2].start("disk0", told)
        port = (await self.until(NODE2, "disk0", lambda status: status.listen_port)).listen_port
        for words in [b"", b"\x16\x03", b"GET / HTTP/1.0\r\n\r\n"] * 30:
            stranger = socket.create_connection(("127.0.0.1", port or 0), timeout=5)
            self.addCleanup(stranger.close)
            stranger.sendall(words)
        told = msgspec.structs.replace(self.spec(NODE1, sends=True), port=port)
        await self.ends[NODE1].start("disk0", told)
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    def script(self, text: str, **more: Any) -> dict[str, Any]:
        """What an end is told whose command is a script."""
        path = self.top / "os" / "script"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        environment = {"PATH": "/usr/bin:/bin", "DISK": str(self.disk(NODE1)), **more}
        script = Script(environment, str(path.parent), str(self.top / "log"), "export-x", hidden=["hush"])
        return {"command": [str(path)], "script": script, "size": 0}

    async def test_script(self) -> None:
        """It runs in its directory with its environment alone, and says how much it will be; its log keeps no secret."""
        told = self.script('pwd >&2; env >&2; echo 5242880 >&$EXP_SIZE_FD; exec cat "$DISK"', OSP_WORD="hush")
        await self.begin(sender=told)
        status = await self.ended(NODE1, "disk0")
        self.assertEqual((status.error_message, status.progress_percent), (None, 100.0))
        await self.ended(NODE2, "disk0")
        self.assertEqual(self.content(NODE2), self.content(NODE1))
        log = (self.top / "log" / "export-x.log").read_text()
        self.assertIn(f"{self.top}/os\n", log)
        self.assertIn("OSP_WORD=****\n", log)
        self.assertNotIn("HOME=", log)

    async def test_script_reads(self) -> None:
        """What it prints is in its log, and its end is waited for."""
        told = self.script("echo begun; cat > $OUT; sleep 0.3; echo done > $OUT.done", OUT=str(self.disk(NODE2)))
        await self.begin(receiver=told)
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).error_message, None)
        self.assertEqual(self.content(NODE2), self.content(NODE1))
        self.assertTrue(Path(f"{self.disk(NODE2)}.done").exists())
        self.assertIn("begun", (self.top / "log" / "export-x.log").read_text())

    async def test_script_fails(self) -> None:
        """What it has said last is told, and what it has left running is ended."""
        marker = self.top / "marker"
        told = self.script(f"(sleep 3; touch {marker}) > /dev/null 2>&1 & echo hush the disk is odd >&2; exit 3")
        await self.begin(sender=told)
        error = (await self.ended(NODE1, "disk0")).error_message or ""
        self.assertRegex(error, "script exited with status 3; log .*/export-x.log ends with: .... the disk is odd")
        self.assertIn("broken off", (await self.ended(NODE2, "disk0")).error_message or "")
        await deferLater(reactor, 3.5)
        self.assertFalse(marker.exists())

    async def test_script_cannot_start(self) -> None:
        """What no variable can hold is told, and not shown."""
        await self.begin(sender=self.script("exit 0", OSP_WORD="a\0hush"))
        error = (await self.ended(NODE1, "disk0")).error_message or ""
        self.assertRegex(error, "cannot start .*script: it is given a character")
        self.assertNotIn("hush", error)

    async def test_checksum(self) -> None:
        """It is told by who receives, and held against what is known by who sends."""
        wanted = sha256(self.content(NODE1)).hexdigest()
        await self.begin(sender={"sha256": wanted}, receiver={"sha256": ""})
        self.assertEqual((await self.ended(NODE2, "disk0")).sha256, wanted)
        self.assertEqual((await self.ended(NODE1, "disk0")).error_message, None)

    async def test_damaged(self) -> None:
        """Who receives does not take it for the whole."""
        await self.begin(sender={"sha256": "0" * 64})
        self.assertIn("what was read is damaged", (await self.ended(NODE1, "disk0")).error_message or "")
        self.assertTrue((await self.ended(NODE2, "disk0")).exit_status)

    async def test_secrets(self) -> None:
        """The magic is in no command line and in no log, and only root reads what has it."""
        await self.begin()
        await self.ended(NODE2, "disk0")
        directory = self.paths[NODE2].import_export_dir / "disk0"
        self.assertNotIn(MAGIC, (directory / "log").read_text())
        self.assertEqual({path.stat().st_mode & 0o77 for path in (directory, directory / "spec")}, {0})
        self.assertEqual(msgspec.json.decode((directory / "spec").read_bytes())["magic"], MAGIC)

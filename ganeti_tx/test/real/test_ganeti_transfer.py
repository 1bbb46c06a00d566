"""Disks go to and come from the programs with which Ganeti carries them (reference: import-export-daemon.json, pipeline)."""

import gzip
import shutil
import subprocess
from typing import Any

from msgspec.structs import replace
from twisted.internet.threads import deferToThread

from ganeti_tx.model.compression import packing, unpacking
from ganeti_tx.test.contracts.transfer import MAGIC, NODE1, NODE2
from ganeti_tx.test.real.transfer_ends import TransferEnds

COMMON = ["socat", "-ls", "-d", "-d", "-b1048576", "-u"]
TCP = "keepalive,keepidle=60,keepintvl=10,keepcnt=5"
LIMIT = 60


class GanetiTransferTests(TransferEnds):
    """Ganeti's side has the key of node 1; ours that of node 2, with what Ganeti's side expects in the certificate."""

    def tls(self) -> str:
        """What Ganeti's side is told."""
        ours = self.top / "ours.cert"
        ours.write_text(self.by_certificate(NODE1)["certificate"])
        own = self.by_certificate(NODE1)
        return (
            "verify=1,cipher=HIGH:-DES:-3DES:-EXPORT:-DH,compress=none,"
            f"key={own['key']},cert={own['identity']},cafile={ours}"
        )

    def start(self, *words: str, **more: Any) -> "subprocess.Popen[bytes]":
        """Begin with the other side."""
        if shutil.which("socat") is None:
            self.skipTest("there is no socat")
        process = subprocess.Popen([*COMMON, *words], stderr=subprocess.PIPE, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    async def test_sent(self) -> None:
        """What is sent arrives whole behind the magic, and the farewell comes back."""
        listen = f"OPENSSL-LISTEN:0,reuseaddr,forever,intervall=0.01,bind=127.0.0.1,pf=ipv4,{TCP},{self.tls()}"
        with (self.top / "arrived").open("wb") as file:
            other = self.start(listen, "STDOUT", stdout=file)
        assert other.stderr is not None
        told = await deferToThread(other.stderr.readline)
        port = int(told.rsplit(b":", 1)[1])
        spec = replace(self.spec(NODE2, sends=True), port=port, filter=[*packing("gzip")], **self.by_certificate(NODE2))
        await self.ends[NODE2].start("disk0", spec)
        self.assertEqual((await self.ended(NODE2, "disk0")).error_message, None)
        self.assertEqual(await deferToThread(other.wait, LIMIT), 0)
        arrived = gzip.decompress((self.top / "arrived").read_bytes())
        self.assertTrue(arrived == b"M=" + MAGIC.encode() + self.content(NODE2))

    async def test_received(self) -> None:
        """What comes fills the disk; that the other side does not wait for the farewell is no fault."""
        more = {"holds": True, "filter": [*unpacking("gzip")], **self.by_certificate(NODE2)}
        await self.ends[NODE2].start("disk0", replace(self.spec(NODE2, sends=False), **more))
        port = (await self.until(NODE2, "disk0", lambda status: status.listen_port)).listen_port
        connect = f"OPENSSL:127.0.0.1:{port},connect-timeout=20,retry=10,intervall=1,pf=ipv4,{TCP},{self.tls()}"
        source = self.top / "sent"
        source.write_bytes(gzip.compress(b"M=" + MAGIC.encode() + self.content(NODE1)))
        with source.open("rb") as file:
            other = self.start("STDIN", f"{connect},openssl-commonname=ganeti.example.com", stdin=file)
        self.assertEqual(await deferToThread(other.wait, LIMIT), 0)
        await self.until(NODE2, "disk0", lambda status: status.filled)
        await self.ends[NODE2].release("disk0")
        self.assertEqual((await self.ended(NODE2, "disk0")).error_message, None)
        self.assertTrue(self.content(NODE2) == self.content(NODE1))

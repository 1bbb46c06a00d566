"""Images from a web server and from files are written to disks, and no password is told."""

import contextlib
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from tempfile import mkdtemp
from typing import Any

from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.images import MIB, Images
from ganeti_tx.rpc.calls.image import BlockdevImage, ImageSize
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads

CONTENT = b"an image" * (MIB // 8) + b"and its end"
PASSWORD = "sesame"
#: What is sent instead of what was told.
CHANGED = {"/image/longer": b"y" * 8 * MIB, "/image/shorter": b"y" * 1000}


class Server(BaseHTTPRequestHandler):
    """Has one image, behind a redirection, for who has the password."""

    def do_GET(self) -> None:
        """The image, or where it is."""
        there = self.headers.get("Authorization") is not None
        self.send_response(302 if self.path == "/moved" else 200 if there and self.path.startswith("/image") else 404)
        if self.path == "/moved":
            self.send_header("Location", "/image")
        if self.path in CHANGED and self.command == "GET":  # the end of a connection is the end of what is sent
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(CHANGED[self.path])
            return
        self.send_header("Content-Length", str(len(CONTENT) if there and self.path != "/moved" else 0))
        self.end_headers()
        if self.command == "GET" and there and self.path.startswith("/image"):
            with contextlib.suppress(ConnectionError):  # who has read enough hangs up
                self.wfile.write(CONTENT)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Tree:
    """One disk, in a file, which has its bytes as they are."""

    def __init__(self, path: Path, size: int) -> None:
        self.status = BlockDevStatus(dev_path=str(path), major=None, minor=None, size=size)

    async def found(self, disk: DiskSpec) -> BlockDevStatus:
        """It."""
        return self.status

    def of(self, disk: DiskSpec) -> object:
        """What it is kept by, which has no views of its own."""
        return self


class ImageTests(TestCase):
    """A disk of three MiB."""

    timeout = 120
    if which("curl") is None:
        skip = "curl is not installed"

    def setUp(self) -> None:
        self.top = Path(mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.disk = self.top / "disk"
        self.disk.write_bytes(b"x" * 3 * MIB)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://me:{PASSWORD}@127.0.0.1:{server.server_port}"
        untyped: Any = reactor
        tree: Any = Tree(self.disk, 3)
        self.node = Images(tree, RealFiles(reactor_threads(untyped)), ReactorProcessRunner(untyped, untyped))
        self.spec = DiskSpec(uuid="d0", dev_type="file", size=3, logical_id=None)

    async def written(self, image: str) -> None:
        """It is as large as it is, at the beginning of the disk, and the rest stays."""
        size = await self.node.size(ImageSize(image=image))
        self.assertEqual(size, 2)
        await self.node.write(BlockdevImage(disk=self.spec, image=image, size=size))
        self.assertEqual(self.disk.read_bytes(), CONTENT + b"x" * (3 * MIB - len(CONTENT)))

    async def refused(self, work: Any) -> str:
        """What is said of an image that cannot be had."""
        try:
            await work
        except GanetiError as error:
            self.assertNotIn(PASSWORD, str(error))
            return str(error)
        raise AssertionError("it was done")

    async def test_url(self) -> None:
        """Also behind a redirection."""
        await self.written(f"{self.url}/moved")

    async def test_file(self) -> None:
        """A file of the node."""
        (self.top / "image").write_bytes(CONTENT)
        await self.written(str(self.top / "image"))

    async def test_other_length(self) -> None:
        """A server that sends something else than it has told, and not how long that is, fills no more than was meant."""
        for path, why in (
            ("/image/longer", "the server has sent more than the 2 MiB that it has told"),
            ("/image/shorter", "the server has told that it has 2 MiB, and has sent 1000 bytes"),
        ):
            image = self.url + path
            size = await self.node.size(ImageSize(image=image))
            told = await self.refused(self.node.write(BlockdevImage(disk=self.spec, image=image, size=size)))
            self.assertIn(why, told)
            self.assertEqual(self.disk.read_bytes()[2 * MIB :], b"x" * MIB)

    async def test_refused(self) -> None:
        """What is not there, is longer than it was, or is larger than the disk."""
        self.assertIn("404", await self.refused(self.node.size(ImageSize(image=f"{self.url}/none?{PASSWORD}"))))
        longer = BlockdevImage(disk=self.spec, image=f"{self.url}/image", size=1)
        self.assertIn("cannot write image http://127.0.0.1", await self.refused(self.node.write(longer)))
        larger = BlockdevImage(disk=self.spec, image=f"{self.url}/image", size=4)
        self.assertIn("takes no image of 4 MiB: it has 3 MiB", await self.refused(self.node.write(larger)))
        several = await self.refused(self.node.size(ImageSize(image=f"{self.url}/{{image,moved}}")))
        self.assertIn("404", several)
        gone = BlockdevImage(disk=self.spec, image=str(self.top / "none"), size=1)
        self.assertIn("No such file", await self.refused(self.node.write(gone)))

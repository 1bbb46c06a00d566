"""Writing images to disks: files of this node, or what a web server has."""

import os
import re
import signal
from pathlib import Path

from attrs import define

from ganeti_tx.errors import BlockDeviceError, ECode, OpPrereqError
from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.raw_view import RawView
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.storage.views import view_of
from ganeti_tx.rpc.calls.image import BlockdevImage, ImageSize
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import CLEAN_ENV, NOT_FOUND, IProcessRunner, ProcessResult

MIB = 1 << 20
#: Seconds for a server to tell how much it has.
ASK_LIMIT = 120.0
_URL = re.compile(r"https?://\S+")
#: What a server has to say, whatever this machine's own settings are; redirections lead to no other protocol.
CURL = (
    "curl",
    "--disable",
    "--globoff",
    "--silent",
    "--show-error",
    "--fail",
    "--location",
    "--proto",
    "=http,https",
    "--config",
    "-",
)
#: Has curl say at its end how many bytes came.
LENGTH = "%{stderr}%{size_download}"
#: The exit status of a program (`RawView.filling`) whose command was ended by a signal, less that signal.
BY_SIGNAL = 128


@define
class Images:
    """Programs of the system do it: dd, and curl for URLs, which it is told on its input, as one may hold a password."""

    tree: DeviceTree
    files: IFiles
    runner: IProcessRunner

    @answers(ImageSize)
    async def size(self, call: ImageSize) -> int:
        """@raise OpPrereqError: there is no such image, or nobody can tell its size."""
        length = await self._offered(call.image) if is_url(call.image) else file_size(self.files, call.image)
        if length <= 0:
            raise OpPrereqError(f"image {shown(call.image)} is empty", ECode.ENVIRON)
        return -(-length // MIB)

    async def _offered(self, url: str) -> int:
        words = [*CURL, "--head", "--output", "/dev/null", "--write-out", "%header{content-length}"]
        told = await self.runner.run(words, env=CLEAN_ENV, stdin=curl_config(url), timeout=ASK_LIMIT)
        if not told.succeeded:
            raise OpPrereqError(f"cannot get image {shown(url)}: {why(told, url)}", ECode.ENVIRON)
        try:
            return int(told.stdout)
        except ValueError:
            raise OpPrereqError(
                f"the server of image {shown(url)} does not tell how long it is", ECode.ENVIRON
            ) from None

    @answers(BlockdevImage)
    async def write(self, call: BlockdevImage) -> None:
        """@raise BlockDeviceError: the disk is too small or has no path here, or the image cannot be read."""
        status = await self.tree.found(call.disk)
        if not status.dev_path or status.size < call.size:
            raise BlockDeviceError(
                f"{call.disk.dev_type} disk {call.disk.uuid} takes no image of {call.size} MiB: it has {status.size} MiB"
            )
        view = view_of(self.tree.of(call.disk), call.disk, status.dev_path, writable=True)
        if is_url(call.image):
            ended = await self._fetch(call, view)
            check_length(call, ended)
        else:
            argv = [*view.prefix, *copy_argv(call, view.path)]
            ended = await self.runner.run(argv, timeout=call.time_limit())
        if not ended.succeeded:
            raise unwritten(call, why(ended, call.image))

    async def _fetch(self, call: BlockdevImage, view: RawView) -> ProcessResult:
        descriptor = None if view.filling else os.open(view.path, os.O_WRONLY | os.O_CLOEXEC)
        limits = ["--max-filesize", str(call.size * MIB), "--speed-limit", "1024", "--speed-time", "60"]
        try:
            return await self.runner.run(
                # curl heeds its limit only where the server tells the length; a device and `filling` take no more than they have
                [*view.filling, "prlimit", f"--fsize={call.size * MIB}", *CURL, *limits, "--write-out", LENGTH],
                env=CLEAN_ENV,
                stdin=curl_config(call.image),
                timeout=call.time_limit(),
                child_fds=None if descriptor is None else {1: descriptor},
            )
        finally:
            if descriptor is not None:
                os.close(descriptor)


def check_length(call: BlockdevImage, fetched: ProcessResult) -> None:
    """@raise BlockDeviceError: the server has sent more or less than it told before (`Images.size`), whose disk it may not fill."""
    if fetched.signal == signal.SIGXFSZ or fetched.status == BY_SIGNAL + signal.SIGXFSZ:
        raise unwritten(call, f"the server has sent more than the {call.size} MiB that it has told")
    if fetched.succeeded and -(-int(fetched.stderr) // MIB) != call.size:
        raise unwritten(
            call, f"the server has told that it has {call.size} MiB, and has sent {int(fetched.stderr)} bytes"
        )


def unwritten(call: BlockdevImage, why: str) -> BlockDeviceError:
    """What is told of an image that is not on its disk."""
    return BlockDeviceError(f"cannot write image {shown(call.image)} to a disk: {why}")


def is_url(image: str) -> bool:
    """Whether a server has it."""
    return _URL.fullmatch(image) is not None


def shown(image: str) -> str:
    """How it is called in texts: of a URL what can be no secret."""
    return re.sub(r"//[^/]*@", "//", image).partition("?")[0]


def why(ended: ProcessResult, image: str) -> str:
    """Why a program failed, which may have said where it got things from."""
    if ended.status == NOT_FOUND:
        return f"{'curl' if is_url(image) else 'dd'} is not on this node"
    return ended.describe(lambda said: said.replace(image, shown(image)))


def curl_config(url: str) -> bytes:
    """What tells curl the URL."""
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    return f'url = "{quoted}"\n'.encode()


def copy_argv(call: BlockdevImage, path: str) -> list[str]:
    """Copies a file to the beginning of a disk."""
    return [
        *("dd", f"if={call.image}", f"of={path}", "bs=1M"),
        *(f"count={call.size}", "conv=nocreat,notrunc,fsync", "status=none"),
    ]


def file_size(files: IFiles, image: str) -> int:
    """In bytes. @raise OpPrereqError: it is no file of this node."""
    try:
        found = files.stat(Path(image))
    except OSError as error:
        raise OpPrereqError(
            f"image {image}: {error.strerror}; it must be a file on this node, or a URL", ECode.ENVIRON
        ) from None
    if found.is_directory:
        raise OpPrereqError(f"image {image} is a directory; it must be a file on this node, or a URL", ECode.ENVIRON)
    return found.size

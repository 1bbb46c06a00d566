"""Asks the module of this node, and tells it what to do, by the programs of drbd-utils."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.drbd import command, connect
from ganeti_tx.node.storage.drbd.generations import Generations, parse_generations
from ganeti_tx.node.storage.drbd.mirror import Mirror
from ganeti_tx.node.storage.drbd.net_options import DISCARD_MY_DATA, wire
from ganeti_tx.node.storage.drbd.proc_drbd import DrbdStatus, parse_proc_drbd
from ganeti_tx.node.storage.drbd.show import Shown, parse_show
from ganeti_tx.node.storage.drbd.status import MirrorStatus, parse_status
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

T = TypeVar("T")

#: The only release that this speaks to.
RELEASE = "8.4."
#: Exit status of drbdsetup for what is not there.
NOT_THERE = 10
#: Seconds: of one command, and of one that writes a whole volume.
TIMEOUT = 60.0
WIPE_TIMEOUT = 600.0
OUTPUT_LIMIT = 4 << 20
#: What metadata say that a crash has left.
UNCLEAN = "(165)"
#: Of a volume that has none: it came into the place of another, and was never given to the mirror.
NO_METADATA = "(119)"
#: A synchronisation that is held up already, or goes on already.
NO_CHANGE = ("(134)", "(135)")


def connector() -> list[str]:
    """The program that connects without telling the secret to everybody."""
    return [sys.executable, "-I", "-S", str(Path(connect.__file__))]


class NoMetadataError(BlockDeviceError):
    """Volumes of which none can be a mirror's part before it gets metadata."""


@frozen
class Kernel:
    """All raise BlockDeviceError with one line: what was to be done, and what was said."""

    runner: IProcessRunner
    connector: Sequence[str] = field(factory=connector)

    async def is_loaded(self) -> bool:
        """Whether the module is there, of whatever release."""
        return (await self._run(command.proc_argv())).succeeded

    async def proc(self) -> DrbdStatus:
        """@raise BlockDeviceError: the module is not loaded, or is none of the release."""
        result = await self._run(command.proc_argv())
        if not result.succeeded:
            raise BlockDeviceError("the kernel module drbd is not loaded on this node")
        found = parse_proc_drbd(_text(result))
        version = found.version["version"]
        if not version.startswith(RELEASE):
            raise BlockDeviceError(f"DRBD {RELEASE}x is needed, and this node's kernel module is {version}")
        return found

    async def helper(self) -> str:
        """The program that the module calls. @raise BlockDeviceError: the module is not loaded."""
        result = await self._run(command.helper_argv())
        if not result.succeeded:
            raise BlockDeviceError("the kernel module drbd is not loaded on this node")
        return _text(result).strip()

    async def shown(self) -> list[Shown]:
        """How all devices are set up."""
        return parse_show(_text(await self.do("see how DRBD is set up", command.show_argv())))

    async def shown_as(self, minor: int) -> Shown | None:
        """How a minor is set up; None when it is not."""
        return next((each for each in await self.shown() if each.minor == minor), None)

    async def status(self, mirror: Mirror) -> MirrorStatus | None:
        """None when it is not set up."""
        result = await self._run(command.status_argv(mirror))
        if result.status == NOT_THERE:
            return None
        _succeeded(f"{mirror.label}: cannot see its state", result)
        return parse_status(_text(result))

    async def generations(self, mirror: Mirror) -> Generations:
        """Which data are here."""
        return self._parsed(parse_generations, await self.do(mirror.label, command.generations_argv(mirror)))

    async def connect(self, mirror: Mirror, both_primary: bool, discard: bool = False) -> None:
        """Look for the other side; with `discard` give up what only this one has."""
        if mirror.secret is None:
            raise BlockDeviceError(f"{mirror.label} cannot be connected without its secret")
        options = wire(command.net_options(mirror, mirror.secret, both_primary)) + [DISCARD_MY_DATA] * discard
        wanted = {"resource": mirror.resource, "local": mirror.local, "peer": mirror.peer, "options": options}
        result = await self._run(self.connector, stdin=json.dumps(wanted).encode())
        _succeeded(f"{mirror.label} cannot be connected", result)

    async def write_metadata(self, mirror: Mirror, meta: str, size: int) -> None:
        """Overwrite so many MiB of a volume with zeros, and make it one with metadata of data that were never filled."""
        wiped = await self._run(command.wipe_argv(meta, size), timeout=WIPE_TIMEOUT)
        _succeeded(f"{mirror.label}: {meta} cannot be wiped", wiped)
        await self.do(f"{mirror.label} cannot have its metadata", command.metadata_argv(mirror, meta, ["create-md"]))

    async def attach(self, mirror: Mirror, data: str, meta: str, size: int) -> None:
        """Give it its own part; what a crash left undone in the metadata is done before.

        @raise NoMetadataError: nothing was ever written to it by DRBD.
        """
        argv = command.attach_argv(mirror, data, meta, size)
        result = await self._run(argv)
        if UNCLEAN in _said(result):
            await self.do(f"{mirror.label}: apply-al", command.metadata_argv(mirror, meta, ["apply-al"]))
            result = await self._run(argv)
        if NO_METADATA in _said(result):
            raise NoMetadataError(f"{mirror.label} cannot have {data} and {meta}: there are no metadata")
        _succeeded(f"{mirror.label} cannot have {data} and {meta}", result)

    async def pause(self, mirror: Mirror, pause: bool) -> None:
        """Doing it twice is no error."""
        result = await self._run(command.pause_argv(mirror, pause))
        if not any(code in _said(result) for code in NO_CHANGE):
            _succeeded(f"{mirror.label}: synchronisation", result)

    async def do(self, what: str, argv: Sequence[str]) -> ProcessResult:
        """@raise BlockDeviceError: it did not succeed."""
        result = await self._run(argv)
        _succeeded(what, result)
        return result

    async def tried(self, argv: Sequence[str]) -> str:
        """What was said against it; empty when it succeeded."""
        result = await self._run(argv)
        return "" if result.succeeded else result.describe()

    def _parsed(self, parse: Callable[[str], T], result: ProcessResult) -> T:
        return parse(_text(result))

    async def _run(self, argv: Sequence[str], stdin: bytes = b"", timeout: float = TIMEOUT) -> ProcessResult:
        return await self.runner.run(argv, stdin=stdin, timeout=timeout, output_limit=OUTPUT_LIMIT)


def _text(result: ProcessResult) -> str:
    return result.stdout.decode("utf-8", "replace")


def _said(result: ProcessResult) -> str:
    """Why it failed; of drbdsetup's lines the first tells it."""
    return "" if result.succeeded else result.stderr.decode("utf-8", "replace")


def _succeeded(what: str, result: ProcessResult) -> None:
    if not result.succeeded:
        first = next(iter(_said(result).strip().splitlines()), "") if result.status is not None else ""
        raise BlockDeviceError(f"{what}: {first.strip()[:500] or result.describe()}")

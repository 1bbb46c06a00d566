"""The bytes' way through the programs of one end."""

import ssl
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO, Any

from attrs import define, field

from ganeti_tx.node.transfer.amount import Amount
from ganeti_tx.node.transfer.checksum import Checksum, Reader, Writer
from ganeti_tx.node.transfer.connection import TransferError
from ganeti_tx.node.transfer.script_run import ScriptRun
from ganeti_tx.node.transfer.spec import Spec
from ganeti_tx.runtime.process import CLEAN_ENV

BLOCK = 1 << 20


@define
class Programs:
    """The programs that were started; none outlives the transfer.

    @ivar script: how the command is run, if it is a script.
    """

    script: ScriptRun | None = None
    started: list[tuple[str, "subprocess.Popen[bytes]"]] = field(factory=list)
    _script_process: "subprocess.Popen[bytes] | None" = None

    def start_command(self, argv: Sequence[str], *, reads: bool, writes: bool) -> "subprocess.Popen[bytes]":
        """What reads or fills the disk. @raise TransferError: it cannot be started."""
        if self.script is None:
            return self.start(argv, reads=reads, writes=writes)
        options = self.script.options(writes=writes)
        try:
            self._script_process = self.start(argv, reads=reads, writes=writes, **options)
        finally:
            self.script.started(options)
        return self._script_process

    @property
    def script_failed(self) -> bool:
        """Whether the script has ended, and not well."""
        return self._script_process is not None and self._script_process.poll() not in (None, 0)

    def start(self, argv: Sequence[str], *, reads: bool, writes: bool, **more: Any) -> "subprocess.Popen[bytes]":
        """One that gets its input from us, or gives us its output. @raise TransferError: there is no such program."""
        usual = {"stdout": subprocess.DEVNULL, "env": dict(CLEAN_ENV)}
        piped = {"stdout": subprocess.PIPE} if writes else {}
        stdin = subprocess.PIPE if reads else subprocess.DEVNULL
        try:
            process = subprocess.Popen(argv, bufsize=0, stdin=stdin, **{**usual, **more, **piped})
        except OSError as error:
            raise TransferError(f"cannot start {argv[0]}: {error.strerror}") from None
        except ValueError:  # which may show it
            raise TransferError(f"cannot start {argv[0]}: it is given a character that no program can have") from None
        self.started.append((argv[0], process))
        return process

    def wait(self, patience: float) -> None:
        """Until all have ended. @raise TransferError: one failed; the log has what it said."""
        for name, process in self.started:
            try:
                status = process.wait(patience)
            except subprocess.TimeoutExpired:
                raise TransferError(f"{name} does not end") from None
            if status != 0:
                raise TransferError(
                    f"{name} {f'exited with status {status}' if status > 0 else f'got signal {-status}'}"
                )

    def kill(self) -> None:
        """End what still runs."""
        for _, process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


def send(spec: Spec, programs: Programs, peer: ssl.SSLSocket, count: Callable[[int], None]) -> str:
    """Read the disk, pack the bytes, and have them gone; gives their checksum. @raise TransferError, OSError."""
    checksum = Checksum(spec.sha256)
    source = checksum.reading(output(programs.start_command(spec.command, reads=False, writes=True)))
    first = magic_bytes(spec)
    if spec.filter:
        packer = programs.start(spec.filter, reads=True, writes=True)
        with beside(programs, pump, source, into(packer, spec.filter[0]), count, first, closing(packer)):
            pump(output(packer), peer.sendall, uncounted)
    else:
        pump(source, peer.sendall, count, first)
    programs.wait(spec.patience)  # who receives an end without a farewell knows that it is not the whole
    told = checksum.told()
    peer.unwrap()
    return told


def receive(
    spec: Spec,
    programs: Programs,
    peer: ssl.SSLSocket,
    count: Callable[[int], None],
    released: Callable[[], None] = lambda: None,
) -> str:
    """Take the bytes, unpack them, and fill the disk, if they are meant for it; gives their checksum.

    @param released: returns when the farewell may be said.
    @raise TransferError, OSError.
    """
    checksum = Checksum(spec.sha256)
    if spec.filter:
        unpacker = programs.start(spec.filter, reads=True, writes=True)
        with beside(programs, pump, reading(peer), into(unpacker, spec.filter[0]), uncounted, b"", closing(unpacker)):
            amount = fill(spec, programs, output(unpacker), count, checksum)
    else:
        amount = fill(spec, programs, reading(peer), count, checksum)
    programs.wait(spec.patience)
    amount.check()  # after what says why too little came, and before the farewell
    if not spec.holds:
        peer.unwrap()  # the other end has been waiting for this: now it knows that the disk is filled
        return checksum.told()
    released()
    with suppress(OSError):  # Ganeti's does not wait; and what was released is taken for good, whoever hears of it
        peer.unwrap()
    return checksum.told()


def fill(spec: Spec, programs: Programs, read: Reader, count: Callable[[int], None], checksum: Checksum) -> Amount:
    """Begin with the disk when the magic is right; how much came."""
    wanted = magic_bytes(spec)
    got = b""
    while len(got) < len(wanted) and (block := read()):
        got += block
    if not got.startswith(wanted):
        raise TransferError("what came is not for this disk: the magic at its beginning differs")
    amount = Amount(spec.least, spec.most)
    sink = programs.start_command(spec.command, reads=True, writes=False)
    write = into(sink, spec.command[0])
    pump(read, amount.writing(checksum.writing(write)), count, got[len(wanted) :])
    closing(sink)()
    return amount


def magic_bytes(spec: Spec) -> bytes:
    """What comes before the data (reference: import-export-daemon.json, pipeline.magic)."""
    return b"M=" + spec.magic.encode()


def pump(
    read: Reader,
    write: Writer,
    count: Callable[[int], None],
    first: bytes = b"",
    end: Callable[[], None] = lambda: None,
) -> None:
    """Everything from one to the other; `first` goes before it, and is counted by nobody."""
    try:
        if first:
            write(first)
        while block := read():
            write(block)
            count(len(block))
    finally:
        end()


@contextmanager
def beside(programs: Programs, work: Callable[..., None], *args: object) -> Iterator[None]:
    """Something that goes on at the same time; its error is told when the block is through, and one of the block's ends it."""
    with ThreadPoolExecutor(1) as pool:
        done: Future[None] = pool.submit(work, *args)
        try:
            yield
        except BaseException:
            programs.kill()  # it waits for them
            raise
        done.result()


def uncounted(number: int) -> None:
    """Bytes that are not those of the disk."""


def reading(peer: ssl.SSLSocket) -> Reader:
    """What comes over a connection, until it is closed in order."""

    def read() -> bytes:
        try:
            return peer.recv(BLOCK)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLEOFError:
            raise TransferError("the other end has broken off") from None

    return read


def output(process: "subprocess.Popen[bytes]") -> Reader:
    """What a program prints."""
    stream: IO[bytes] | None = process.stdout
    assert stream is not None
    return lambda: stream.read(BLOCK)


def into(process: "subprocess.Popen[bytes]", name: str) -> Writer:
    """The way to a program, which may end before it has read everything, whatever it ends with."""
    stream: IO[bytes] | None = process.stdin
    assert stream is not None

    def write(block: bytes) -> None:
        view = memoryview(block)
        try:
            while view:
                view = view[stream.write(view) :]
        except BrokenPipeError:
            raise TransferError(f"{name} has not read everything that came for it") from None

    return write


def closing(process: "subprocess.Popen[bytes]") -> Callable[[], None]:
    """What says to a program that nothing more comes."""
    stream: IO[bytes] | None = process.stdin
    assert stream is not None
    return stream.close

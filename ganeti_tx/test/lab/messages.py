"""What is said between a test and the agent on a machine: frames of four bytes of length and a message each."""

import struct
from typing import Final

import msgspec

from ganeti_tx.runtime.process import ProcessResult

#: Bytes of the longest message: all that a program may be given or say.
LONGEST: Final = 256 << 20
#: The exit status of programs on a machine that cannot be reached; what ssh says.
UNREACHABLE: Final = 255
#: Where the agent listens.
SOCKET: Final = "/run/lab-agent"


class Run(msgspec.Struct, frozen=True, tag=True):
    """Run a program; answered by `Ended`. See `IProcessRunner.run`."""

    call: int
    argv: list[str]
    env: dict[str, str]
    cwd: str | None
    stdin: bytes
    timeout: float
    output_limit: int


class Detach(msgspec.Struct, frozen=True, tag=True):
    """Start a program that lives on; answered by `Detached` or `Refused`. See `IProcessRunner.run_detached`."""

    call: int
    argv: list[str]
    env: dict[str, str]
    cwd: str | None
    log: str


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """End a program whose end nobody awaits; not answered."""

    call: int


class Ended(msgspec.Struct, frozen=True, tag=True):
    """A program has ended."""

    call: int
    result: ProcessResult


class Detached(msgspec.Struct, frozen=True, tag=True):
    """A program has been started."""

    call: int
    pid: int


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A program could not be started: an OSError."""

    call: int
    errno: int
    text: str


Request = Run | Detach | Cancel
Answer = Ended | Detached | Refused

_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


def encoded(message: Request | Answer) -> bytes:
    """Without the length."""
    return msgspec.msgpack.encode(message)


def framed(message: Request | Answer) -> bytes:
    """With the length."""
    data = encoded(message)
    return struct.pack("!I", len(data)) + data


def request(data: bytes) -> Request:
    """What a test wants."""
    return _requests.decode(data)


def answer(data: bytes) -> Answer:
    """What the agent says."""
    return _answers.decode(data)

"""QMP as bytes: what QEMU says becomes messages, commands become lines. No I/O."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import define, field, frozen

from ganeti_tx.errors import HypervisorError

#: The longest message that is taken; QEMU's own lists of commands and machines stay below 200 KiB.
MESSAGE_LIMIT = 4 << 20


class QmpMalformed(HypervisorError):
    """The other end does not speak QMP."""


@frozen
class Greeting:
    """The first message of all."""

    version: tuple[int, int, int]


@frozen
class Answer:
    """A command succeeded."""

    command_id: int | None
    value: Any


@frozen
class Refusal:
    """A command failed; without a command id QEMU could not even read it."""

    command_id: int | None
    error_class: str
    text: str


@frozen
class Event:
    """Something happened in the instance."""

    name: str
    data: Mapping[str, Any]


Message = Greeting | Answer | Refusal | Event


@define
class MessageBuffer:
    """Cuts QEMU's bytes into messages; keeps the unfinished tail."""

    limit: int = MESSAGE_LIMIT
    _chunks: list[bytes] = field(factory=list, init=False)
    _size: int = field(default=0, init=False)

    def feed(self, data: bytes) -> list[Message]:
        """All messages that are complete now. @raise QmpMalformed: not QMP, or a message over the limit."""
        *lines, tail = data.split(b"\n")
        messages = []
        for line in lines:
            whole = b"".join([*self._chunks, line])
            self._chunks, self._size = [], 0
            self._check(len(whole))
            if whole.strip():
                messages.append(parse(whole))
        if tail:
            self._chunks.append(tail)
            self._size += len(tail)
            self._check(self._size)
        return messages

    def _check(self, size: int) -> None:
        if size > self.limit:
            raise QmpMalformed(f"QMP message of more than {self.limit} bytes")


def parse(line: bytes) -> Message:
    """One message. @raise QmpMalformed: it is none."""
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise QmpMalformed(f"not a QMP message ({error}): {shown(line)}")
    match raw:
        case {"QMP": {"version": {"qemu": {"major": int(major), "minor": int(minor), "micro": int(micro)}}}}:
            return Greeting((major, minor, micro))
        case {"event": str(name)}:
            data = raw.get("data", {})
            return Event(name, data if isinstance(data, dict) else {})
        case {"return": value}:
            return Answer(_command_id(raw), value)
        case {"error": {"class": str(error_class), "desc": str(text)}}:
            return Refusal(_command_id(raw), error_class, text)
    raise QmpMalformed(f"not a QMP message: {shown(line)}")


def encode(command: str, arguments: Mapping[str, Any] | None, command_id: int) -> bytes:
    """One command as a line."""
    message: dict[str, Any] = {"execute": command, "id": command_id}
    if arguments:
        message["arguments"] = arguments
    return msgspec.json.encode(message) + b"\n"


def shown(line: bytes) -> str:
    """The beginning of a line, fit for an error."""
    return repr(line[:80].decode("utf-8", "replace"))


def _command_id(raw: Mapping[str, Any]) -> int | None:
    found = raw.get("id")
    return found if isinstance(found, int) else None

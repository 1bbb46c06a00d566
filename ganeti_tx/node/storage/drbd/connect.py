"""Run as a program: connects a resource of DRBD 8.4 with options that may not stand in an argument list.

`drbdsetup connect` takes the shared secret as an argument only, where every user of the node can read it. This speaks the module's
generic netlink (linux/drbd_genl.h) itself. It needs nothing but Python, and reads what to do from its standard input, as JSON:
"resource", "local" and "peer" (address and port each), and "options" as (attribute number, "text", "number" or "flag", value).
Exit status 0 when it is done, 1 with a line on stderr otherwise.
"""

import ipaddress
import json
import os
import socket
import struct
import sys
from typing import Any

NETLINK_GENERIC = 16
CONTROL, GET_FAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2
ERROR, REQUEST, ACKNOWLEDGE = 2, 1, 4
CONNECT = 10
REPLY, CONTEXT, NET_OPTIONS = 1, 2, 5
INFO_TEXT, RESOURCE, LOCAL, PEER = 1, 2, 3, 4
#: Marks of an attribute: it has others in it, and the module must know it.
NESTED, MANDATORY = 0x8000, 0x4000
#: Success, nothing to do, no error.
DONE = (1, 2, 101)
#: What the module means by the numbers that an operator can do something about.
FAULTS = {
    102: "the local address and port are in use",
    103: "the peer's address and port are in use",
    120: "the authentication algorithm is not known to the kernel",
    125: "the resource is connected already",
    158: "there is no such resource",
}
SECONDS = 10
MAX_INPUT = 1 << 16


class Refused(Exception):
    """The module did not do it."""


def attribute(kind: int, content: bytes) -> bytes:
    """One, padded."""
    return struct.pack("=HH", len(content) + 4, kind) + content + b"\0" * (-len(content) % 4)


def text(value: str) -> bytes:
    """As the kernel has it."""
    return value.encode() + b"\0"


def attributes(data: bytes) -> "dict[int, bytes]":
    """Those in a message, by their numbers."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & ~(NESTED | MANDATORY)] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def socket_address(address: str, port: int) -> bytes:
    """As the kernel has it."""
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + ip.packed + bytes(8)
    return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + ip.packed + bytes(4)


def option(number: int, form: str, value: Any) -> bytes:
    """One of the connection's options."""
    forms = {
        "text": lambda: text(value),
        "number": lambda: struct.pack("=I", value),
        "flag": lambda: struct.pack("=B", value),
    }
    return attribute(number | MANDATORY, forms[form]())


class Netlink:
    """Questions to the kernel, one after the other."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.settimeout(SECONDS)
        self.socket.bind((0, 0))
        self.sequence = 0

    def ask(self, family: int, command: int, body: bytes) -> bytes:
        """What is answered, behind the generic header."""
        self.sequence += 1
        data = struct.pack("=BBH", command, 1, 0) + body
        self.socket.send(struct.pack("=IHHII", len(data) + 16, family, REQUEST | ACKNOWLEDGE, self.sequence, 0) + data)
        while True:
            answer = self.socket.recv(1 << 16)
            length, kind, _, sequence, _ = struct.unpack_from("=IHHII", answer)
            if sequence != self.sequence:
                continue
            if kind != ERROR:
                return answer[20:length]
            (number,) = struct.unpack_from("=i", answer, 16)
            if number:
                raise Refused(os.strerror(-number))

    def family(self, name: str) -> int:
        """Its number."""
        try:
            answer = self.ask(CONTROL, GET_FAMILY, attribute(FAMILY_NAME, text(name)))
        except Refused:
            raise Refused("the module drbd is not loaded") from None
        return int.from_bytes(attributes(answer)[FAMILY_ID], sys.byteorder)


def connect(wanted: "dict[str, Any]") -> None:
    """Let a resource look for its other side. @raise Refused: it does not."""
    context = (
        attribute(RESOURCE | MANDATORY, text(wanted["resource"]))
        + attribute(LOCAL | MANDATORY, socket_address(*wanted["local"]))
        + attribute(PEER | MANDATORY, socket_address(*wanted["peer"]))
    )
    options = b"".join(option(*each) for each in wanted["options"])
    netlink = Netlink()
    head = struct.pack("=II", 0xFFFFFFFF, 0)
    body = head + attribute(CONTEXT | NESTED, context) + attribute(NET_OPTIONS | NESTED, options)
    answer = netlink.ask(netlink.family("drbd"), CONNECT, body)
    _, status = struct.unpack_from("=Ii", answer)
    if status not in DONE:
        said = attributes(attributes(answer[8:]).get(REPLY, b"")).get(INFO_TEXT, b"").rstrip(b"\0").decode()
        raise Refused(": ".join(each for each in (f"({status})", FAULTS.get(status, ""), said) if each))


def main() -> int:
    """The program."""
    try:
        connect(json.loads(sys.stdin.buffer.read(MAX_INPUT)))
    except (Refused, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

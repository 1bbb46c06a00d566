"""What hostile and faulty clients do to a daemon's socket, and what a daemon's memory looks like meanwhile."""

import json
import random
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field

MIB = 1024 * 1024
END = b"\x03"
#: Seconds that a daemon may take for anything; nothing here takes nearly so long.
LIMIT = 30.0
CHUNK = 64 * 1024


@define
class Target:
    """A socket to attack; keeps the connections that an attack leaves open."""

    path: Path | None = None
    address: tuple[str, int] | None = None
    tls: ssl.SSLContext | None = None
    open: list[socket.socket] = field(factory=list)

    def connect(self) -> socket.socket:
        """One more connection, with TLS if that is given."""
        made = socket.socket(socket.AF_UNIX if self.path else socket.AF_INET)
        self.open.append(made)
        where: Any = str(self.path) if self.path else self.address
        made.connect(where)  # waits while the listen queue is full
        made.settimeout(LIMIT)
        if self.tls is not None:
            self.open[-1] = made = self.tls.wrap_socket(made)
        return made

    def close(self) -> None:
        """Leave nothing."""
        for each in self.open:
            each.close()
        self.open.clear()


def send(connection: socket.socket, data: bytes, times: int = 1) -> None:
    """Send so often, or as much as the other side takes before it hangs up."""
    try:
        for _ in range(times):
            connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
        pass


def heard(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up. @raise TimeoutError: it does not."""
    data = b""
    try:
        while piece := connection.recv(CHUNK):
            data += piece
    except (ConnectionResetError, ssl.SSLError):
        pass
    return data


def refusal(connection: socket.socket) -> str:
    """The one line with which a server of LUXI's kind refuses. @raise AssertionError: it said something else."""
    answer = heard(connection)
    if not answer.endswith(END) or answer.count(END) != 1:
        raise AssertionError(f"expected one refusal, got {answer[:200]!r}")
    said = json.loads(answer[:-1])
    if said["success"] or not isinstance(said["result"], str) or "\n" in said["result"]:
        raise AssertionError(f"expected a refusal, got {said}")
    return str(said["result"])


def message(args: bytes, method: str = "QueryConfigValues") -> bytes:
    """A request with these arguments, as they stand."""
    return b'{"method": "%s", "args": ' % method.encode() + args + b"}" + END


# Attacks on LUXI and WConfD

Attack = Callable[[Target], str]


def endless_frame(target: Target) -> str:
    """64 MiB without an end."""
    connection = target.connect()
    send(connection, b"x" * MIB, 64)
    return refusal(connection)


def junk(target: Target) -> str:
    """64 MiB of random bytes."""
    connection = target.connect()
    send(connection, random.Random(1).randbytes(MIB), 64)
    return refusal(connection)


def many_unfinished(target: Target) -> str:
    """80 connections with 2 MiB each of a request that has no end."""
    for _ in range(80):
        send(target.connect(), b" " * MIB, 2)
    return "; ".join({refusal(each) for each in target.open if hung_up(each)})


def hung_up(connection: socket.socket) -> bool:
    """Whether there is something to read."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1, socket.MSG_PEEK) is not None
    except (TimeoutError, BlockingIOError):
        return False
    finally:
        connection.settimeout(LIMIT)


def idle_connections(target: Target) -> str:
    """A thousand connections that say nothing."""
    for _ in range(1000):
        target.connect()
    return "left open"


def a_byte_at_a_time(target: Target) -> str:
    """300 connections on which a byte comes now and then."""
    for _ in range(300):
        target.connect()
    for byte in b'{"method':
        for each in target.open:
            send(each, bytes([byte]))
    return "left open"


def no_reader(target: Target) -> str:
    """100 connections with a thousand questions each, of which no answer is read."""
    question = (
        message(b'[[0, ""], null]', "GetInstances")
        if "wconfd" in str(target.path)
        else message(b"[]", "QueryClusterInfo")
    )
    for _ in range(100):
        connection = target.connect()
        connection.setblocking(False)
        try:
            for _ in range(1000):
                connection.send(question)
        except BlockingIOError:
            pass
    return "left open"


def deep(target: Target) -> str:
    """Brackets in brackets: too many to be read, too many to be walked through, and 16 MiB of them without an end."""
    said = []
    for brackets in (b"[" * 100_000 + b"]" * 100_000, b"[" * 900 + b"]" * 900, b"[" * (16 * MIB)):
        connection = target.connect()
        send(connection, message(brackets))
        said.append(refusal(connection))
    return "; ".join(said)


def bad_text(target: Target) -> str:
    """Text that is no UTF-8."""
    connection = target.connect()
    send(connection, message(b'["' + b"\xff\xfe" * MIB + b'"]'))
    return refusal(connection)


def huge_integers(target: Target) -> str:
    """A number of four million digits, many of four thousand, and one that is just too large."""
    said = []
    many = b"[" + b",".join([b"9" * 4000] * 1000) + b"]"
    for args in (b"9" * (4 * MIB), b"[" + b"9" * 4000 + b"]", many, b"[18446744073709551616]"):
        connection = target.connect()
        send(connection, message(args))
        said.append(refusal(connection))
    return "; ".join(said)


def many_values(target: Target) -> str:
    """Short values, which take much more room when they are read."""
    said = []
    for value in (b"[],", b'{"a":1},', b"1,", b'"",'):
        connection = target.connect()
        send(connection, message(b"[" + value * (16 * MIB // len(value)) + b"0]"))
        said.append(refusal(connection))
    return "; ".join(dict.fromkeys(said))


def held_requests(target: Target) -> str:
    """60 requests of 2 MiB about a job, and 60 whose refusal repeats what was sent; a WConfD refuses them all."""
    connection = target.connect()
    send(connection, message(b'[[{"OP_ID": "OP_TEST_DELAY", "duration": 10.0, "reason": []}]]', "SubmitJob"))
    job_id = json.loads(connection.recv(CHUNK)[:-1])["result"]
    text = b"x" * (2 * MIB)
    for held in (b'["status"], ["%s"], null, 60' % text, b'["%s"], null, null, 60' % text):
        wait = message(b"[%s, %s]" % (json.dumps(job_id).encode(), held), "WaitForJobChange")
        for _ in range(60):
            send(target.connect(), wait)
    return "left open"


ON_SOCKETS: dict[str, Attack] = {
    "endless frame": endless_frame,
    "junk": junk,
    "many unfinished": many_unfinished,
    "idle connections": idle_connections,
    "a byte at a time": a_byte_at_a_time,
    "no reader": no_reader,
    "deep": deep,
    "bad text": bad_text,
    "huge integers": huge_integers,
    "many values": many_values,
    "held requests": held_requests,
}

# Attacks on node calls

HEAD = b"POST /version HTTP/1.1\r\nHost: node1\r\nContent-Length: %d\r\n"


def status(connection: socket.socket) -> str:
    """The first line of the answer; "hung up" without one."""
    lines = heard(connection).splitlines()
    return lines[0].decode("ascii", "replace") if lines else "hung up"


def announced_body(target: Target) -> str:
    """1 GiB announced, and 64 MiB of it sent."""
    connection = target.connect()
    send(connection, HEAD % (1024 * MIB) + b"\r\n" + b"x" * MIB)
    send(connection, b"x" * MIB, 63)
    return status(connection)


def slow_heads(target: Target) -> str:
    """300 connections on which a header comes now and then."""
    for _ in range(300):
        try:
            send(target.connect(), HEAD % 1)
        except OSError:  # there are too many of us
            continue
    for _ in range(3):
        for each in target.open:
            send(each, b"X-Slow: yes\r\n")
    return "left open"


def idle_callers(target: Target) -> str:
    """400 connections that say nothing."""
    for _ in range(400):
        try:
            target.connect()
        except OSError:
            continue
    return "left open"


def plain_junk(target: Target) -> str:
    """64 MiB of random bytes, which are no TLS, and a thousand connections that say nothing."""
    plain = Target(address=target.address, open=target.open)
    connection = plain.connect()
    send(connection, random.Random(1).randbytes(MIB), 64)
    for _ in range(1000):
        plain.connect()
    return "left open"


def no_certificate(target: Target) -> str:
    """A hundred callers without a certificate, each with a request."""
    nobody = Target(address=target.address, tls=anybody(), open=target.open)
    said = set()
    for _ in range(100):
        try:
            connection = nobody.connect()
            send(connection, HEAD % 0 + b"\r\n")
            said.add(status(connection))
        except OSError as error:
            said.add(type(error).__name__)
    return "; ".join(sorted(said))


ON_NODES: dict[str, Attack] = {
    "announced body": announced_body,
    "slow heads": slow_heads,
    "idle callers": idle_callers,
    "plain junk": plain_junk,
    "no certificate": no_certificate,
}


def anybody(certificate: Path | None = None) -> ssl.SSLContext:
    """TLS that trusts everybody, with a certificate of one's own or without."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(str(certificate))
    return context


@define
class Memory:
    """What a process takes, as the kernel counts it, in bytes."""

    process: int

    def now(self) -> int:
        """Its memory."""
        return self._read("VmRSS")

    def peak(self) -> int:
        """The most since `forget_peak`."""
        return self._read("VmHWM")

    def forget_peak(self) -> None:
        """Count the peak from now on."""
        Path(f"/proc/{self.process}/clear_refs").write_text("5")

    def _read(self, name: str) -> int:
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        values: dict[str, Any] = dict(line.split(":", 1) for line in lines)
        return int(values[name].split()[0]) * 1024

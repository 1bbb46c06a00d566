"""Run on a machine under Xen: vif-ganeti by processes that have loaded it before.

To load it takes nearly all of the ten seconds that xl gives a script, where a processor is emulated in software. Each connection
brings the words and the environment of one run, each followed by a zero; its last line says how that ended.
"""

import os
import socket
import sys
from pathlib import Path

from twisted.internet import epollreactor  # what `react` installs, loaded beforehand
from twisted.internet.task import react

from ganeti_tx.node.hypervisor.nics.program import main as program

SOCKET = Path("/run/lab-vifs")
SCRIPT = Path("/etc/xen/scripts/vif-ganeti")
#: Words, then a "--", then the environment.
CLIENT = f"""#!/bin/sh
told=$({{ printf '%s\\0' "$@" --; env -0; }} | socat -t 30 - UNIX-CONNECT:{SOCKET})
printf '%s\\n' "$told" | sed '$d' >&2
exit "$(printf '%s\\n' "$told" | tail -n 1)"
"""
LIMIT = 1 << 16
PRELOADED = (epollreactor,)


def received(connection: socket.socket) -> list[str]:
    """All that is sent."""
    data = b""
    while len(data) < LIMIT and (more := connection.recv(LIMIT)):
        data += more
    return data.decode(errors="surrogateescape").split("\0")[:-1]


def run(connection: socket.socket, told: list[str]) -> int:
    """The program, as if it had just been started so."""
    end = told.index("--")
    os.environ.clear()
    os.environ.update(dict(line.split("=", 1) for line in told[end + 1 :] if "=" in line))
    for stream in (1, 2):
        os.dup2(connection.fileno(), stream)
    try:
        react(program, ["vif-ganeti", *told[:end]])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def serve() -> None:
    """One after another, without end."""
    SOCKET.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(SOCKET))
    server.listen()
    SCRIPT.write_text(CLIENT)
    SCRIPT.chmod(0o755)
    while True:
        connection, _ = server.accept()
        if os.fork() == 0:
            status = run(connection, received(connection))
            sys.stdout.flush()
            connection.sendall(f"\n{status}\n".encode())
            os._exit(0)
        connection.close()
        os.wait()


if __name__ == "__main__":
    serve()

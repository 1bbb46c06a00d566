"""Connects the terminal to a serial console's socket; Ctrl-] leaves. Run on the instance's node by gnt-instance console."""

import os
import select
import socket
import sys
import termios
import tty

LEAVE = b"\x1d"
CHUNK = 4096


def main() -> int:
    """The exit status: 1 when nobody listens on the socket."""
    if len(sys.argv) != 2:
        print("usage: python -m ganeti_tx.console SOCKET", file=sys.stderr)
        return 2
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(sys.argv[1])
    except OSError as error:
        print(f"cannot connect to the console {sys.argv[1]}: {error.strerror}; does the instance run?", file=sys.stderr)
        return 1
    with connection:
        return talk(connection)


def talk(connection: socket.socket) -> int:
    """Pass bytes both ways, the terminal raw while it lasts."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal) if os.isatty(terminal) else None
    if before is not None:
        print("Connected; Ctrl-] leaves.", file=sys.stderr)
        tty.setraw(terminal)
    try:
        pass_bytes(connection, terminal)
    finally:
        if before is not None:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return 0


def pass_bytes(connection: socket.socket, terminal: int) -> None:
    """Until either side ends or the user leaves."""
    open_inputs = [connection.fileno(), terminal]
    while connection.fileno() in open_inputs:
        ready, _, _ = select.select(open_inputs, [], [])
        if connection.fileno() in ready:
            data = connection.recv(CHUNK)
            if not data:
                return
            os.write(sys.stdout.fileno(), data)
        if terminal in ready:
            typed = os.read(terminal, CHUNK)
            if not typed:
                open_inputs.remove(terminal)
            elif LEAVE in typed:
                return
            else:
                connection.sendall(typed)


if __name__ == "__main__":
    sys.exit(main())

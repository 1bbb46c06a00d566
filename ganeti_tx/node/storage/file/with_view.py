"""Runs a command that sees the bytes of a disk which lie in an image, as a file: with_view.py DIRECTORY DISK -- COMMAND.

QEMU's own daemon opens the image and shows it over FUSE at a file of the directory. It ends with the command, or with this
program if that is killed. Only what comes with Python is imported: it is run by the path of this file.
"""

import ctypes
import errno
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

DAEMON, SERVER = "qemu-storage-daemon", "qemu-nbd"
#: Seconds until an image is shown, and until all that was written to it is kept.
OPENING, CLOSING = 60.0, 600.0
#: prctl(2) and umount2(2).
PR_SET_PDEATHSIG = 1
MNT_DETACH = 2
#: The rights of others to write.
OF_OTHERS = 0o022
#: Of what QEMU says, bytes that are told.
TOLD = 500
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin", "LC_ALL": "C"}
FAILURE, BY_SIGNAL = 1, 128


class ViewError(Exception):
    """A disk is not to be seen, or what was written to it is not kept."""


def main(argv: Sequence[str]) -> int:
    """Run it; its own status, or 1 with a line that says why not."""
    _, directory, told, _, *command = argv
    os.umask(0o077)
    try:
        check_directory(directory)
        disk = json.loads(told)
        with shown(directory, disk) as at:
            status = run(command, at if disk["output"] else None)
    except ViewError as error:
        print(f"{error}", file=sys.stderr)
        return FAILURE
    except OSError as error:
        print(f"{error.filename or command[0]}: {error.strerror}", file=sys.stderr)
        return FAILURE
    return status


def run(command: Sequence[str], output: str | None) -> int:
    """The command, with all that this program was given; it does not outlive this one.

    @param output: the file that has what it prints.
    """
    written = None if output is None else os.open(output, os.O_WRONLY)
    started = subprocess.Popen(command, stdout=written, env=given(), close_fds=False, preexec_fn=dying(signal.SIGKILL))
    if written is not None:
        os.close(written)
    status = started.wait()
    return status if status >= 0 else BY_SIGNAL - status


def given() -> dict[bytes, bytes]:
    """The environment that this program was started with; to its own Python may have added LC_CTYPE (PEP 538)."""
    with open("/proc/self/environ", "rb") as environment:
        pairs = (each.partition(b"=") for each in environment.read().split(b"\0"))
        return {name: value for name, mark, value in pairs if mark}


def check_directory(directory: str) -> None:
    """Make it. @raise ViewError: others could put something in the place of a disk there."""
    with suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    seen = os.lstat(directory)
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & OF_OTHERS:
        raise ViewError(f"{directory} is not used: it is not a directory that only its owner may write to")


@contextmanager
def shown(directory: str, disk: dict[str, Any]) -> Iterator[str]:
    """The bytes of one disk, at its own file. @raise ViewError: they are not to be seen, or not kept in the end."""
    at = os.path.join(directory, disk["at"])
    clear(at)
    os.close(os.open(at, os.O_CREAT | os.O_EXCL | os.O_RDONLY | os.O_NOFOLLOW, 0o600))
    try:
        source = served(at, disk) if disk["snapshot"] else image(disk)
        with daemon(at, source, writable=disk["writable"]):
            yield at
    finally:
        clear(at)


def image(disk: dict[str, Any]) -> dict[str, Any]:
    """An image as QEMU's daemon takes it: it looks for no format, and for no file that the image might be made upon.

    QEMU cannot be told to refuse one whose data are in another file: the option names that file, and no file is refused where
    there is none to be named. Whoever has a disk looked at has read its header (`qcow2_header`), and only QEMU writes there.
    """
    return {
        "driver": "qcow2",
        "file": {"driver": "file", "filename": disk["path"]},
        "backing": None,
        "read-only": not disk["writable"],
        **({"discard": "unmap", "detect-zeroes": "unmap"} if disk["writable"] else {}),
    }


def served(at: str, disk: dict[str, Any]) -> dict[str, Any]:
    """A snapshot that is within an image, which may be in use: another program of QEMU's reads it, and ends with its client."""
    place = f"{short_name(os.path.dirname(at))}/{disk['at']}.socket"
    chosen, options = f"snapshot.name={disk['snapshot']}", disk["options"]
    command = [SERVER, "--read-only", "--fork", "--socket", place, "--load-snapshot", chosen, "--image-opts", options]
    try:
        ended = subprocess.run(
            command,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=OPENING,
            check=False,
        )
    except FileNotFoundError:
        raise ViewError(f"the program {SERVER} is not on this node; install qemu-utils") from None
    except subprocess.TimeoutExpired:
        raise ViewError(f"{SERVER} does not get ready with {disk['path']}") from None
    if ended.returncode != 0:
        raise ViewError(f"{SERVER} cannot open {disk['path']}: {last_line(ended.stderr)}")
    return {"driver": "nbd", "server": {"type": "unix", "path": place}, "read-only": True}


def short_name(directory: str) -> str:
    """Another name of a directory while this program runs: its own may be too long for the path of a socket."""
    return f"/proc/{os.getpid()}/fd/{os.open(directory, os.O_RDONLY | os.O_DIRECTORY)}"


@contextmanager
def daemon(at: str, source: dict[str, Any], *, writable: bool) -> Iterator[None]:
    """QEMU's daemon, which greets its monitor when it shows what it is to show: that comes last of what it is told."""
    export = {"type": "fuse", "id": "view", "node-name": "disk", "mountpoint": at, "writable": writable}
    command = [DAEMON, "--blockdev", json.dumps({"node-name": "disk", **source}), "--export", json.dumps(export)]
    command += ["--chardev", "stdio,id=greeting", "--monitor", "chardev=greeting"]
    try:
        process = subprocess.Popen(
            command,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=dying(signal.SIGTERM),
        )
    except FileNotFoundError:
        raise ViewError(f"the program {DAEMON} is not on this node; install qemu-utils") from None
    try:
        wait_for_greeting(process)
        yield
    finally:
        end(process)
    if process.returncode != 0:
        raise ViewError(f"{DAEMON} ended with {process.returncode}: what was written may not be kept")


def wait_for_greeting(process: "subprocess.Popen[bytes]") -> None:
    """@raise ViewError: it does not come."""
    assert process.stdout is not None and process.stderr is not None
    ready, _, _ = select.select([process.stdout], [], [], OPENING)
    if not ready:
        raise ViewError(f"{DAEMON} does not get ready")
    if not process.stdout.readline():
        raise ViewError(f"{DAEMON}: {last_line(process.stderr.read())}")


def end(process: "subprocess.Popen[bytes]") -> None:
    """Have it write what it has, and go."""
    process.terminate()
    try:
        process.communicate(timeout=CLOSING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def clear(at: str) -> None:
    """Leave nothing at the file of a disk: what a killed program has left there does no harm. @raise ViewError: it is in use."""
    try:
        if os.lstat(at).st_dev != os.lstat(os.path.dirname(at)).st_dev:
            raise ViewError(f"{at} is in use by another program")
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno != errno.ENOTCONN:  # what was mounted there has died
            raise
        ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(at), MNT_DETACH)
    hang_up(at)
    for path in (at, f"{at}.socket"):
        with suppress(FileNotFoundError):
            os.unlink(path)


def hang_up(at: str) -> None:
    """A server to which nobody has come would wait for ever; it ends when one goes again."""
    if os.path.exists(f"{at}.socket"):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
            caller.connect(f"{short_name(os.path.dirname(at))}/{os.path.basename(at)}.socket")


def dying(number: int) -> Callable[[], None]:
    """For a child, which gets a signal when this program is gone."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, number)

    return prepare


def last_line(said: bytes) -> str:
    """The end of what a program said."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:TOLD] if lines else "it does not say why"


if __name__ == "__main__":
    sys.exit(main(sys.argv))

"""bin/quickstart: a devcluster with one instance in it, shown running."""

import argparse
import errno
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import DEFAULT_ROOT, Layout
from ganeti_tx.devcluster.main import do_down
from ganeti_tx.devcluster.trust import allow_nobody_else_to_write, check_trusted
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.runtime.tool_parser import ToolParser

INSTANCE = "web1.dev.example"
OS = "busybox+default"
GUEST_DIRECTORY = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ganeti_tx" / "guest"
MAKE_GUEST = shipped("os/busybox/make-guest")
#: Seconds that the guest's kernel may take to say that it is up, under software emulation.
BOOT_LIMIT = 120
GUEST_LIMIT = 300
#: What the guest's boot line holds.
UP = f"ganeti_tx guest {INSTANCE} is up".encode()
MAX_SAID = 65536
#: Seconds of silence after which its shell is asked, and how.
SILENCE = 5.0
ASK = b"\ndmesg | grep 'ganeti_tx guest'\n"
INSTEAD = "the cluster runs on the fake hypervisor instead, which boots nothing."


def main() -> int:
    """Bring everything up, or with --stop down; the exit status."""
    parser = ToolParser(prog="bin/quickstart", description="A three-node cluster with one running machine.")
    parser.add_argument("--stop", action="store_true", help="take everything down")
    parser.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="its directory (default: %(default)s)")
    options = parser.parse_args()
    allow_nobody_else_to_write()
    try:
        if options.stop:
            return do_down(argparse.Namespace(root=options.root, keep=False))
        return start(options.root)
    except DevclusterError as error:
        print(f"quickstart: {error}", file=sys.stderr)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"quickstart: {error.strerror or error}{where}", file=sys.stderr)
    return 1


def start(root: Path) -> int:
    """The whole tour."""
    check_trusted(root)
    kvm = have_qemu() and make_guest()
    print(f"Bringing up three nodes in {root} ...", flush=True)
    layout = up(root, 3, init_options(kvm), supervised=True)
    booting = have_instance(layout, kvm)
    if kvm and booting:
        print("On its serial console:", flush=True)
        for line in boot_lines(layout):
            print(f"  {line}")
    print(run(layout.master, ["gnt-instance", "list"]), end="")
    print()
    print("Try: bin/gnt gnt-instance shutdown web1     (or startup, reboot, console, remove, info)")
    print("     bin/gnt gnt-cluster info               bin/quickstart --stop takes everything down")
    return 0


def have_instance(layout: Layout, kvm: bool) -> bool:
    """Make sure that the instance runs; whether it was started just now."""
    if INSTANCE not in run(layout.master, ["gnt-instance", "list", "--no-headers", "-o", "name"]).split():
        print(f"Creating {INSTANCE} ...", flush=True)
        run(layout.master, ["gnt-instance", "add", *instance_options(kvm, layout), INSTANCE])
        if not kvm:  # what has no system installed is not started
            run(layout.master, ["gnt-instance", "startup", INSTANCE])
        return True
    if "running" in run(layout.master, ["gnt-instance", "list", "--no-headers", "-o", "status", INSTANCE]):
        print(f"{INSTANCE} runs already.")
        return False
    run(layout.master, ["gnt-instance", "startup", INSTANCE])
    return True


def have_qemu() -> bool:
    """Whether there is a QEMU; without one we say what is used instead."""
    if shutil.which("qemu-system-x86_64") is None:
        print(f"There is no qemu-system-x86_64; {INSTEAD}")
        return False
    return True


def make_guest() -> bool:
    """Have a guest kernel; without one the fake hypervisor must do, and we say so."""
    if (GUEST_DIRECTORY / "initrd.img").exists() and kernel().exists():
        return True
    print(f"Making a guest kernel and initramfs in {GUEST_DIRECTORY} ...", flush=True)
    GUEST_DIRECTORY.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [str(MAKE_GUEST), str(GUEST_DIRECTORY)], capture_output=True, text=True, timeout=GUEST_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"No guest could be made ({error}); {INSTEAD}")
        return False
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or [f"make-guest ended with status {done.returncode}"]
        print(f"No guest could be made ({words[-1]}); {INSTEAD}")
        return False
    return True


def kernel() -> Path:
    """The kernel that boots fastest of those that were made."""
    elf = GUEST_DIRECTORY / "vmlinux"
    return elf if elf.exists() else GUEST_DIRECTORY / "vmlinuz"


def init_options(kvm: bool) -> list[str]:
    """The cluster's own parameters."""
    if not kvm:
        return ["--enabled-hypervisors=fake"]
    parameters = f"kvm:kernel_path={kernel()},initrd_path={GUEST_DIRECTORY / 'initrd.img'}"
    parameters += ",kernel_args=console=ttyS0 quiet,root_path=/dev/vda,serial_console=true,vnc_bind_address="
    return ["--enabled-hypervisors=kvm,fake", "-H", parameters]


def instance_options(kvm: bool, layout: Layout) -> list[str]:
    """One small instance on the second node."""
    common = ["-n", layout.nodes[1].name, "-o", OS, "-B", "memory=128", "--no-name-check", "--no-ip-check"]
    if kvm:
        return [*common, "-t", "file", "--disk", "0:size=64M", "--ignore-ipolicy"]
    return [*common, "-t", "diskless", "--no-install"]


def boot_lines(layout: Layout) -> list[str]:
    """What the guest says on its serial console when it is up.

    Nobody hears what it said before we came, so its shell is asked for the kernel's log when it is silent.

    @raise DevclusterError: it never says that it is up.
    """
    path = layout.nodes[1].root / "var/run/ganeti/kvm-hypervisor/ctrl" / f"{INSTANCE}.serial"
    said = b""
    deadline = time.monotonic() + BOOT_LIMIT
    with socket.socket(socket.AF_UNIX) as console:
        try:
            console.connect(str(path))
            while UP not in said and time.monotonic() < deadline:
                said = (said + listen(console))[-MAX_SAID:]
        except OSError as error:
            raise DevclusterError(f"the serial console {path}: {error.strerror or error}")
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    if UP not in said:
        raise DevclusterError(f"{INSTANCE} did not say within {BOOT_LIMIT} s that it is up; it said: {lines[-3:]}")
    return [line for line in lines if UP.decode() in line]


def listen(console: socket.socket) -> bytes:
    """What comes next; after a silence the guest is asked. @raise OSError: the instance has gone."""
    console.settimeout(SILENCE)
    try:
        data = console.recv(4096)
    except TimeoutError:
        console.sendall(ASK)
        return b""
    if not data:
        raise ConnectionResetError(errno.ECONNRESET, "the machine has ended")
    return data


if __name__ == "__main__":
    sys.exit(main())

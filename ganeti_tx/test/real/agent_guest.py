"""A guest with QEMU's own agent in it: Debian's, with the libraries of this machine, on top of the usual small guest."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.real.guest import ROOT, make_guest

#: What bin/test has unpacked.
AGENT = ROOT / ".cache" / "guest-agent" / "usr" / "sbin" / "qemu-ga"
#: On the console of the guest: a file system that can be frozen, an address, and the agent.
COMMANDS = (
    b"mount -t ext4 /dev/vda /mnt; ip address add 192.0.2.7/24 dev lo; ip link set lo up",
    b"mkdir -p /var/run; /sbin/qemu-ga -d -m virtio-serial -p $(echo /dev/vport*) && echo agent''-runs",
)


async def guest_with_agent(directory: Path) -> dict[str, Any]:
    """The parameters of its kernel. @raise SkipTest: this machine lacks something for it."""
    guest = await make_guest()
    if not AGENT.exists():
        raise SkipTest("there is no .cache/guest-agent; bin/test unpacks it from Debian's qemu-guest-agent")
    root = directory / "agent"
    (root / "sbin").mkdir(parents=True)
    shutil.copy2(AGENT, root / "sbin" / "qemu-ga")
    for library in libraries(AGENT):
        there = root / library.relative_to("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library.resolve(), there)
    names = [str(path.relative_to(root)) for path in sorted(root.rglob("*"))]
    archive = subprocess.run(
        ["cpio", "-o", "-H", "newc", "--quiet"],
        cwd=root, input="\n".join(names).encode(), stdout=subprocess.PIPE, check=True, timeout=60,
    ).stdout  # fmt: skip
    initrd = directory / "initrd.img"
    initrd.write_bytes((guest / "initrd.img").read_bytes() + gzip.compress(archive, 1))
    return {"kernel_path": str(guest / "vmlinux"), "initrd_path": str(initrd), "kernel_args": "quiet"}


def libraries(program: Path) -> list[Path]:
    """All that it is linked with. @raise SkipTest: one of them is not on this machine."""
    told = subprocess.run(["ldd", str(program)], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
    if "not found" in told:
        raise SkipTest(f"{program.name} lacks libraries on this machine: {told}")
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", told)]

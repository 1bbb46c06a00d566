"""A node root with the real LXC driver, and a disk with a small system on it."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from attrs import define

from ganeti_tx.node.hypervisor.lxc.driver import register
from ganeti_tx.node.hypervisor.lxc.hypervisor import LxcHypervisor
from ganeti_tx.test.real.driver_node import DriverNode

#: The first process of the small system: it ends at the signal with which LXC asks for it, or of itself.
INIT = """#!/bin/busybox sh
trap 'exit 0' PWR
echo "ready" > /state
while [ ! -e /end ]; do busybox sleep 0.1; done
"""
#: One with a shell on its console, too.
WITH_SHELL = INIT.replace("trap", "busybox sh < /dev/console > /dev/console 2>&1 &\ntrap", 1)
DISK_SIZE = 8 << 20
#: How often it is looked whether a loop device is free yet, and seconds between.
LOOKS, PAUSE = 50, 0.1


def why_not() -> str | None:
    """Why no container can be run here."""
    if os.geteuid() != 0:
        return "only root runs containers here"
    for program, package in (("lxc-start", "lxc"), ("mke2fs", "e2fsprogs"), ("busybox", "busybox-static")):
        if shutil.which(program) is None:
            return f"{program} is missing; install {package}"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    if not any(Path(place).exists() for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/cgroup.controllers")):
        return "there are no control groups"
    return None


@define
class LxcNode(DriverNode):
    """One node, and what is on it."""

    def driver(self) -> LxcHypervisor:
        """As a daemon that starts now makes it."""
        return register(self)

    def make_disk(self, init: str = INIT) -> Path:
        """A file with a file system, on which a small system lies."""
        tree = self.top / "tree"
        for directory in ("bin", "sbin", "dev", "proc", "sys", "etc"):
            (tree / directory).mkdir(parents=True, exist_ok=True)
        shutil.copy(str(shutil.which("busybox")), tree / "bin/busybox")
        (tree / "sbin/init").write_text(init)
        (tree / "sbin/init").chmod(0o755)
        disk = self.top / f"disk{len(list(self.top.glob('disk*')))}"
        with disk.open("wb") as file:
            file.truncate(DISK_SIZE)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext2", "-d", str(tree), str(disk)], check=True)
        return disk

    def mounted(self) -> list[str]:
        """What is mounted below this node's root."""
        lines = Path("/proc/self/mounts").read_text().splitlines()
        return [line.split()[1] for line in lines if line.split()[1].startswith(f"{self.top}/")]

    def loops(self) -> list[str]:
        """The loop devices over this node's files; the kernel frees one soon after it was unmounted."""
        for _ in range(LOOKS):
            if not (found := self.loops_now()):
                break
            time.sleep(PAUSE)
        return found

    def loops_now(self) -> list[str]:
        """Those that are there yet."""
        shown = subprocess.run(["losetup", "-nO", "BACK-FILE"], capture_output=True, text=True, check=True).stdout
        return [line for line in shown.splitlines() if line.startswith(f"{self.top}/")]

    def remains(self) -> list[str]:
        """Files in the run directory, mounts and loop devices that belong to instances."""
        files = [str(path) for path in self.paths.run_dir.glob("lxc/*")]
        return sorted([*files, *self.mounted(), *self.loops()])

    async def clear(self) -> None:
        """End what a failed test left, and remove the node."""
        driver = self.driver()
        for name in driver.kept_names():
            await driver.stop(name, 0.0, force=True)
        if not self.mounted():
            shutil.rmtree(self.top)

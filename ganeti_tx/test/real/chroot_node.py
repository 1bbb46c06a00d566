"""A node root with the real driver of chroots, and small systems that can be an instance's root."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from attrs import define

from ganeti_tx.node.hypervisor.chroot.driver import register
from ganeti_tx.node.hypervisor.chroot.hypervisor import ChrootHypervisor
from ganeti_tx.test.real.driver_node import DriverNode

#: It starts one process, which tells in the root what became of it.
SCRIPT = """#!/bin/busybox sh
live() { trap 'echo asked > /ended; exit 0' TERM; echo > /up; while :; do busybox sleep 0.05; done; }
case "$1" in
  start) echo "begins as $INSTANCE_NAME"; busybox rm -f /up; live & echo $! > /pid
    while [ ! -e /up ]; do busybox sleep 0.02; done;;
  stop) read pid < /pid; kill $pid;;
  status) read pid < /pid && kill -0 $pid 2> /dev/null || exit 3;;
esac
"""
DISK_SIZE = 8 << 20


def why_not() -> str | None:
    """Why nothing can be run in a chroot here."""
    if os.geteuid() != 0:
        return "only root may change its root directory"
    for program, package in (("mke2fs", "e2fsprogs"), ("busybox", "busybox-static")):
        if shutil.which(program) is None:
            return f"{program} is missing; install {package}"
    return None if Path("/dev/loop-control").exists() else "there are no loop devices"


@define
class ChrootNode(DriverNode):
    """One node, and what is on it; its run directory is reached by a link, as on Debian."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        (self.top / "run").mkdir()
        self.paths.run_dir.parent.parent.mkdir()
        self.paths.run_dir.parent.symlink_to(self.top / "run")

    def driver(self) -> ChrootHypervisor:
        """As a daemon that starts now makes it."""
        return register(self)

    def tree(self, name: str) -> Path:
        """Where the root of an instance without disks is."""
        return self.paths.chroot_tree_dir / name

    def make_tree(self, name: str, script: str = SCRIPT) -> Path:
        """The root of an instance without disks."""
        tree = self.tree(name)
        for directory in ("bin", "dev", "proc"):
            (tree / directory).mkdir(parents=True, exist_ok=True)
        if not (tree / "bin/busybox").exists():
            shutil.copy(str(shutil.which("busybox")), tree / "bin/busybox")
            (tree / "bin/sh").symlink_to("busybox")
            os.mknod(tree / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (tree / "ganeti-chroot").write_text(script)
        (tree / "ganeti-chroot").chmod(0o755)
        return tree

    def make_disk(self) -> Path:
        """A file with a file system, on which a small system lies."""
        disk = self.top / "disk"
        with disk.open("wb") as file:
            file.truncate(DISK_SIZE)
        tree = self.make_tree("on-disk")
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext2", "-d", str(tree), str(disk)], check=True)
        return disk

    def mounted(self) -> list[str]:
        """What is mounted below this node's root."""
        lines = Path("/proc/self/mounts").read_text().splitlines()
        return [line.split()[1] for line in lines if line.split()[1].startswith(f"{self.top}/")]

    def processes(self) -> list[str]:
        """Those whose root directory is below this node's root."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "root").startswith(f"{self.top}/"):
                    found.append(f"process {entry.name}")
            except OSError:
                continue  # it has ended
        return found

    def remains(self) -> list[str]:
        """Files in the run directory, mounts and processes that belong to instances."""
        files = [str(path) for path in self.paths.chroot_run_dir.glob("*")]
        return sorted([*files, *self.mounted(), *self.processes()])

    async def clear(self) -> None:
        """End what a failed test left, and remove the node."""
        driver = self.driver()
        for name in driver.kept_names():
            await driver.stop(name, 0.0, force=True)
        if not self.mounted():
            shutil.rmtree(self.top)

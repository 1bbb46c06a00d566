"""What a devcluster's instances and their disks leave on this machine: each node's drivers end it, which alone know what it is."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.node.hypervisor.kept import kept_machines
from ganeti_tx.runtime.machine_work import END, LEAVE, LIMIT, machines_argv
from ganeti_tx.runtime.mount_table import mounts_below, read_table
from ganeti_tx.runtime.paths import Paths


def end_machines(root: Path) -> list[str]:
    """Cut all instances off, then unmount the volumes that their disks were on; what was said where something is left.

    Nodes share the directory of such a volume. Those that have nothing are not looked at further.
    """
    nodes = sorted(each for each in root.iterdir() if each.is_dir()) if root.is_dir() else []
    return [*_faults(nodes, lambda paths: bool(kept_machines(paths)), END), *_faults(nodes, has_mounted, LEAVE)]


def has_mounted(paths: Paths) -> bool:
    """Whether something is written down of volumes that a node has mounted."""
    return paths.gluster_mounts_dir.is_dir() and any(paths.gluster_mounts_dir.iterdir())


def check_nothing_mounted(root: Path) -> None:
    """@raise DevclusterError: who removes the directory would remove what somebody has mounted in it, too."""
    if places := mounts_below(read_table(), root.resolve()):
        raise DevclusterError(
            f"{root} stays, as something is mounted in it: {', '.join(map(str, places))}; unmount that, and repeat 'down'"
        )


def _faults(nodes: list[Path], concerns: Callable[[Paths], bool], what: str) -> Iterator[str]:
    for node in nodes:
        if concerns(Paths(node)):
            yield from _faults_of(node, what)


def _faults_of(node: Path, what: str) -> Iterator[str]:
    environment = {**os.environ, "GANETI_ROOTDIR": str(node)}
    try:
        done = subprocess.run(
            machines_argv(what), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=LIMIT, check=False, cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        yield f"{node.name}: its instances and volumes were not done with within {LIMIT:g} s"
        return
    if done.returncode != 0:
        said = [*done.stdout.splitlines(), *done.stderr.splitlines()[-1:]]
        yield f"{node.name}: {'; '.join(said) or f'status {done.returncode}'}"

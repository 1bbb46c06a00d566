"""What the watcher does on the master besides: old jobs to the archive, and a process for each node group."""

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.calls import Calls
from ganeti_tx.own_modules import module_argv
from ganeti_tx.watcher.node import WatchedNode
from ganeti_tx.watcher.status_file import merged, write_status

#: Seconds for which jobs are archived; the next run goes on.
ARCHIVE_LIMIT = 30
#: How a process ends whose group another one is at work on, which is no failure.
BUSY = 20
#: Seconds that the process of one group may take; it limits each of its own waits.
CHILD_LIMIT = 3600.0
_STATE, _STATUS, _PREFIX = ".data", ".instance-status", "watcher."


@frozen
class Group:
    """A node group by both its names."""

    uuid: str
    name: str


#: A group and the process that is at work on it.
Child = tuple[Group, "subprocess.Popen[bytes]"]


def archive(node: WatchedNode, client: Calls, age: int) -> None:
    """Move jobs that ended so many seconds ago (-1: all) out of the queue."""
    try:
        archived, left = client.auto_archive_jobs(age, ARCHIVE_LIMIT)
    except GanetiError as error:
        node.log.warning(f"old jobs are not archived: {error}")
        return
    node.log.debug(f"archived {archived} jobs, {left} were not looked at")


def groups(client: Calls) -> list[Group]:
    """Those of the cluster."""
    return [Group(uuid, name) for uuid, name in client.query_groups([], ["uuid", "name"])]


def remove_leftovers(node: WatchedNode, present: Sequence[Group]) -> None:
    """What was kept of groups that are gone."""
    known = {group.uuid for group in present}
    for path in [*node.paths.data_dir.glob(f"{_PREFIX}*{_STATE}"), *node.paths.data_dir.glob(f"{_PREFIX}*{_STATUS}")]:
        uuid = path.name.removeprefix(_PREFIX).removesuffix(_STATE).removesuffix(_STATUS)
        if uuid not in known:
            for gone in (path, node.paths.watcher_group_lock_file(uuid)):
                with suppress(OSError):
                    gone.unlink()
            node.log.info(f"removed {path}, whose group is gone")


def wait_for(node: WatchedNode, children: Sequence[Child]) -> None:
    """Until all groups are done; a slow one has held nobody else up."""
    for group, child in children:
        try:
            status = child.wait(CHILD_LIMIT)
        except subprocess.TimeoutExpired:
            node.log.error(f"group {group.name}: process {child.pid} does not end within {CHILD_LIMIT:.0f} s")
            continue
        if status == BUSY:
            node.log.info(f"group {group.name}: an earlier run is at work on it still")
        elif status != 0:
            node.log.error(f"group {group.name}: process {child.pid} ended with {status}")


def merge_status(node: WatchedNode, present: Sequence[Group]) -> None:
    """One file about all groups."""
    files: list[Path] = [node.paths.watcher_instance_status_file(group.uuid) for group in present]
    write_status(node.paths.instance_status_file, merged(files))


def starter(node: WatchedNode, options: Sequence[str]) -> Callable[[Group], "subprocess.Popen[bytes]"]:
    """Starts the process of a group. @param options: of this one that hold for it, too"""

    def start(group: Group) -> "subprocess.Popen[bytes]":
        argv = module_argv("ganeti_tx.watcher.main", "-g", group.uuid, *options)
        return subprocess.Popen(argv, env=dict(node.environ), cwd="/", stdin=subprocess.DEVNULL)

    return start

"""One node group: its instances that should run and do not, and its disks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field
from msgspec.structs import replace

from ganeti_tx.luxi.calls import Calls
from ganeti_tx.watcher import decisions
from ganeti_tx.watcher.decisions import SeenInstance
from ganeti_tx.watcher.jobs import WatcherJobs
from ganeti_tx.watcher.node import WatchedNode
from ganeti_tx.watcher.state import GroupState, Tries, load, save
from ganeti_tx.watcher.status_file import write_status
from ganeti_tx.watcher.volume_groups import VolumeGroups

#: The result of a query has each value beside a number that is 0 when there is one.
NORMAL = 0
INSTANCE_FIELDS = ("name", "status", "admin_state", "snodes")
NODE_FIELDS = ("name", "bootid")
LOW_PRIORITY = 10


@define
class GroupRun:
    """What one run does for one group; the caller holds its lock."""

    node: WatchedNode
    client: Calls
    uuid: str
    verify_disks: bool = True
    _jobs: WatcherJobs = field(init=False)
    _state: GroupState = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._jobs = WatcherJobs(self.node, self.client)
        self._state = load(self.node.paths.watcher_state_file(self.uuid))

    def run(self) -> None:
        """Look, submit what is to be done at once and remember it; only then wait for jobs, which may take long.

        @raise GanetiError: the master daemon cannot be asked. @raise OSError: what is to be remembered cannot be written.
        """
        seen, boots = self._instances(), self._boots()
        self._tell(seen)
        shutdowns = self._clean(seen)
        activated, unknown = self._activate(seen, boots)
        tries = self._start(seen)
        self._remember(tries, shutdowns, {name: boot for name, boot in boots.items() if name not in unknown})
        if self.verify_disks:
            self._verify_disks(set(activated))
            self._mend_volume_groups()
        former = {each.job for each in self._state.instances.values()}
        started = {each.job for each in tries.values() if each.job is not None} - former
        self._jobs.follow({*shutdowns.values(), *activated.values(), *started})

    # What is seen

    def _instances(self) -> list[SeenInstance]:
        rows = self._query("instance", INSTANCE_FIELDS, ["==", "pnode.group.uuid", self.uuid])
        return [
            SeenInstance(
                name=row["name"],
                status=row["status"],
                marked_up=row["admin_state"] == "up",
                secondaries=tuple(row["snodes"] or ()),
            )
            for row in rows
        ]

    def _boots(self) -> dict[str, str]:
        """The boots of the nodes that answer."""
        rows = self._query("node", NODE_FIELDS, ["==", "group.uuid", self.uuid])
        return {row["name"]: row["bootid"] for row in rows if row["bootid"]}

    def _query(self, resource: str, fields: Sequence[str], wanted: list[Any]) -> list[dict[str, Any]]:
        answer = self.client.query(resource, fields, wanted)
        return [
            {name: value if status == NORMAL else None for name, (status, value) in zip(fields, row, strict=True)}
            for row in answer["data"]
        ]

    def _tell(self, seen: Sequence[SeenInstance]) -> None:
        path = self.node.paths.watcher_instance_status_file(self.uuid)
        write_status(path, {each.name: each.status for each in seen})

    # What is done

    def _clean(self, seen: Sequence[SeenInstance]) -> dict[str, int]:
        """Have the configuration say that instances are down which their users have shut down; the jobs that do, by instance."""
        before = self._state.shutdowns
        busy = self._jobs.active(list(before.values()))
        wanted = decisions.to_clean(seen)
        under_way = {name: before[name] for name in wanted if before.get(name) in busy}
        new = self._submit_each(
            [name for name in wanted if name not in under_way], user_shutdown, "{} was shut down by its user"
        )
        return {**under_way, **new}

    def _activate(self, seen: Sequence[SeenInstance], boots: Mapping[str, str]) -> tuple[dict[str, int], set[str]]:
        """Bring back the second halves on nodes that were booted; the jobs by instance, and the nodes to be seen to again."""
        rebooted = decisions.rebooted(boots, self._state.boots)
        names = decisions.to_activate(seen, rebooted)
        jobs = self._submit_each(names, activation, "a node with a disk of {} was booted")
        refused = {node for each in seen if each.name in names and each.name not in jobs for node in each.secondaries}
        return jobs, refused & rebooted

    def _verify_disks(self, activated: set[str]) -> None:
        """Find disks that are not in order, and activate those of instances that were not activated just now."""
        op = {"OP_ID": "OP_GROUP_VERIFY_DISKS", "group_name": self.uuid, "priority": LOW_PRIORITY}
        job = self._jobs.submit(op, "disks are checked from time to time")
        for results in self._jobs.follow([] if job is None else [job]).values():
            node_errors, to_activate, missing = results[0]
            for node, error in sorted(node_errors.items()):
                self.node.log.warning(f"disks of node {node} could not be checked: {error}")
            for name in sorted(missing):
                self.node.log.warning(f"instance {name} has lost volumes: {missing[name]}")
            names = sorted(set(to_activate) - activated - set(missing))
            self._jobs.follow(self._submit_each(names, activation, "disks of {} are not in order").values())

    def _mend_volume_groups(self) -> None:
        """Have a volume group do without what it lost; what was seen is remembered before anything is done."""
        name = self.client.query_cluster_info()["volume_group_name"]
        if not name:
            return
        rows = self._query("node", ("name", "offline", "vm_capable"), ["==", "group.uuid", self.uuid])
        nodes = sorted(row["name"] for row in rows if row["vm_capable"] and not row["offline"])
        groups = VolumeGroups(name, self.client, self._jobs, self.node.log)
        if nodes and (faults := groups.faults(nodes)) is not None:
            path = self.node.paths.watcher_state_file(self.uuid)
            self._save(replace(load(path), volume_groups_whole=not faults))
            groups.mend(faults, self._state.volume_groups_whole)

    def _start(self, seen: Sequence[SeenInstance]) -> dict[str, Tries]:
        """Start what is down; the tries that count from now on."""
        now = self.node.now()
        tries = decisions.forget(self._state.instances, seen, now)
        busy = self._jobs.active([each.job for each in tries.values() if each.job is not None])
        for name in decisions.given_up(seen, tries):
            self.node.log.warning(
                f"instance {name} was started {tries[name].count} times and is down; it is left alone until "
                f"{decisions.EXPIRY / 3600:.0f} hours after the last try"
            )
        for name in decisions.to_start(seen, tries, busy):
            op = {"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": name}
            job = self._jobs.submit(op, f"{name} is down and should run")
            if job is not None:
                count = tries[name].count if name in tries else 0
                tries[name] = Tries(count=count + 1, last=now, job=job)
        return tries

    def _submit_each(self, names: Sequence[str], op: Callable[[str], dict[str, Any]], why: str) -> dict[str, int]:
        """The jobs of those that were taken, by instance."""
        jobs = {name: self._jobs.submit(op(name), why.format(name)) for name in names}
        return {name: job for name, job in jobs.items() if job is not None}

    def _remember(self, tries: Mapping[str, Tries], shutdowns: Mapping[str, int], boots: Mapping[str, str]) -> None:
        """Of nodes that did not answer what was known before."""
        members = {row["name"] for row in self._query("node", ("name",), ["==", "group.uuid", self.uuid])}
        known = {name: boot for name, boot in self._state.boots.items() if name in members}
        self._save(
            GroupState(
                instances=dict(tries),
                shutdowns=dict(shutdowns),
                boots={**known, **boots},
                volume_groups_whole=self._state.volume_groups_whole,
            )
        )

    def _save(self, state: GroupState) -> None:
        save(self.node.paths.watcher_state_file(self.uuid), state)


def user_shutdown(name: str) -> dict[str, Any]:
    """Says that an instance is down because its user wanted so."""
    return {"OP_ID": "OP_INSTANCE_SHUTDOWN", "instance_name": name, "admin_state_source": "user"}


def activation(name: str) -> dict[str, Any]:
    """Brings the disks of an instance in order."""
    return {"OP_ID": "OP_INSTANCE_ACTIVATE_DISKS", "instance_name": name}

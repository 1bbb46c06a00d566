"""Every LUXI method with its types, for clients that block: one line each."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ganeti_tx.luxi.answers import check_type
from ganeti_tx.luxi.timeouts import AUTO_ARCHIVE, CLIENT_POLL, WAIT_FOR_JOB_CHANGE_CAP

T = TypeVar("T")
#: Opcodes in wire form, each an object with its OP_ID.
Ops = Sequence[dict[str, Any]]
JobId = int | str


def _listed(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


class Calls:
    """The methods by name; who inherits brings `call`. Errors of the server are raised as Ganeti's classes."""

    def call(self, method: str, args: list[Any]) -> Any:
        """Send one request, return its result."""
        raise NotImplementedError

    def _ask(self, kind: type[T], method: str, *args: Any) -> T:
        return check_type(kind, method, self.call(method, list(args)))

    def submit_job(self, ops: Ops) -> int:
        """Queue one job of opcodes in wire form; its id. @raise GenericError: the queue is drained."""
        return self._ask(int, "SubmitJob", list(ops))

    def submit_job_to_drained_queue(self, ops: Ops) -> int:
        """Queue one job even while the queue is drained; its id."""
        return self._ask(int, "SubmitJobToDrainedQueue", list(ops))

    def submit_many_jobs(self, jobs: Sequence[Ops]) -> list[Any]:
        """Queue jobs; for each [True, id] or [False, message], in order."""
        return self._ask(list, "SubmitManyJobs", [list(ops) for ops in jobs])

    def wait_for_job_change(
        self,
        job_id: JobId,
        fields: Sequence[str],
        previous_info: list[Any] | None,
        previous_serial: int | None,
        timeout: int = CLIENT_POLL,
    ) -> Any:
        """[field values, new log entries] once they differ, or after the time-out in seconds the unchanged ones; old
        masters answer "nochange" then. @raise JobLost: no such job.
        """
        return self.call(
            "WaitForJobChange",
            [job_id, list(fields), previous_info, previous_serial, min(timeout, WAIT_FOR_JOB_CHANGE_CAP)],
        )

    def pickup_job(self, job_id: JobId) -> Any:
        """Internal to the queue: servers refuse it."""
        return self.call("PickupJob", [job_id])

    def cancel_job(self, job_id: JobId, kill: bool = False) -> list[Any]:
        """[whether it was cancelled, message]; kill ends a running job by force."""
        return self._ask(list, "CancelJob", job_id, kill)

    def change_job_priority(self, job_id: JobId, priority: int) -> list[Any]:
        """[whether it was changed, message]."""
        return self._ask(list, "ChangeJobPriority", job_id, priority)

    def archive_job(self, job_id: JobId) -> bool:
        """Whether the job was moved to the archive."""
        return self._ask(bool, "ArchiveJob", job_id)

    def auto_archive_jobs(self, age: int, timeout: int = AUTO_ARCHIVE) -> list[Any]:
        """Archive jobs ended more than `age` seconds ago (-1: all); [archived, not looked at in time]."""
        return self._ask(list, "AutoArchiveJobs", age, timeout)

    def query(self, resource: str, fields: Sequence[str], query_filter: list[Any] | None = None) -> dict[str, Any]:
        """{"fields": definitions, "data": rows of [status, value]}."""
        return self._ask(dict, "Query", resource, list(fields), query_filter)

    def query_fields(self, resource: str, fields: Sequence[str] | None = None) -> dict[str, Any]:
        """{"fields": definitions}; of all fields without a list."""
        return self._ask(dict, "QueryFields", resource, _listed(fields))

    def query_jobs(self, job_ids: Sequence[JobId] | None, fields: Sequence[str]) -> list[Any]:
        """One row a job, all jobs without a list; a missing job gives nulls."""
        return self._ask(list, "QueryJobs", _listed(job_ids), list(fields))

    def query_filters(self, uuids: Sequence[str] | None, fields: Sequence[str]) -> list[Any]:
        """One row a job filter rule."""
        return self._ask(list, "QueryFilters", _listed(uuids), list(fields))

    def query_instances(self, names: Sequence[str], fields: Sequence[str]) -> list[Any]:
        """One row an instance; all without names, unknown names left out."""
        return self._ask(list, "QueryInstances", list(names), list(fields), False)

    def query_nodes(self, names: Sequence[str], fields: Sequence[str]) -> list[Any]:
        """One row a node; all without names, unknown names left out."""
        return self._ask(list, "QueryNodes", list(names), list(fields), False)

    def query_groups(self, names: Sequence[str], fields: Sequence[str]) -> list[Any]:
        """One row a node group; all without names, unknown names left out."""
        return self._ask(list, "QueryGroups", list(names), list(fields), False)

    def query_networks(self, names: Sequence[str], fields: Sequence[str]) -> list[Any]:
        """One row a network; all without names, unknown names left out."""
        return self._ask(list, "QueryNetworks", list(names), list(fields), False)

    def query_exports(self, nodes: Sequence[str]) -> list[Any]:
        """[node, export] of each export found."""
        return self._ask(list, "QueryExports", list(nodes), False)

    def query_config_values(self, names: Sequence[str]) -> list[Any]:
        """The values of some settings, None for unknown names."""
        return self._ask(list, "QueryConfigValues", list(names))

    def query_cluster_info(self) -> dict[str, Any]:
        """What gnt-cluster info shows."""
        return self._ask(dict, "QueryClusterInfo")

    def query_tags(self, kind: str, name: str = "") -> list[str]:
        """The tags of an object; the cluster has no name."""
        return self._ask(list, "QueryTags", kind, name)

    def set_drain_flag(self, drain: bool) -> bool:
        """Refuse new jobs, or take them again."""
        return self._ask(bool, "SetDrainFlag", drain)

    def set_watcher_pause(self, until: float | None) -> Any:
        """Pause the watcher until a time in seconds since the epoch, None to go on; the same is returned."""
        return self.call("SetWatcherPause", [until])

    def replace_filter(
        self, uuid: str | None, priority: int, predicates: list[Any], action: Any, reason: list[Any]
    ) -> str:
        """Set a job filter rule, a new one without uuid; its uuid."""
        return self._ask(str, "ReplaceFilter", uuid, priority, predicates, action, reason)

    def delete_filter(self, uuid: str) -> Any:
        """Remove a job filter rule."""
        return self.call("DeleteFilter", [uuid])

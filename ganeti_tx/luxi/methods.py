# mypy: disable-error-code="empty-body"
"""The one table of LUXI methods: what each is called with, on the wire and by clients, and what it answers.

The names and the argument texts are those of the Ganeti 3.0 LUXI table.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from ganeti_tx.luxi.declared import method, table_of
from ganeti_tx.luxi.method_table import Effect, Param
from ganeti_tx.luxi.shapes import (
    ANYTHING,
    BOOL,
    FALSE,
    INT,
    JOB_ID,
    LIST,
    NATURAL,
    NUMBER,
    OBJECTS,
    STRING,
    STRINGS,
    list_of,
    nullable,
    one_of,
)
from ganeti_tx.luxi.timeouts import AUTO_ARCHIVE, CLIENT_POLL, WAIT_FOR_JOB_CHANGE_CAP

TELLS, WAITS, CHANGES = Effect.TELLS, Effect.WAITS, Effect.CHANGES
#: Of these nodes may be asked for the answer to Query.
LIVE_RESOURCES = ("instance", "node", "export")
TAG_KINDS = ("cluster", "nodegroup", "node", "instance", "network")

#: Opcodes in wire form, each an object with its OP_ID.
Ops = Sequence[dict[str, Any]]
JobId = int | str

Job = Annotated[JobId, Param("job id", JOB_ID)]
OpsOfJob = Annotated[Ops, Param("list of opcode objects", OBJECTS)]
Fields = Annotated[Sequence[str], Param("list of fields", STRINGS)]
Names = Annotated[Sequence[str], Param("list of names", STRINGS)]
Resource = Annotated[str, Param("resource name", STRING)]
Uuids = Annotated[Sequence[str] | None, Param("list of uuids or null", nullable(STRINGS))]
NoLock = Annotated[Literal[False], Param("lock bool, must be false", FALSE)]
TagKind = Annotated[str, Param("kind: cluster, nodegroup, node, instance or network", one_of(*TAG_KINDS))]
Until = Annotated[float | None, Param("end time as float seconds, or null to unpause", nullable(NUMBER))]
Kill = Annotated[bool, Param("kill bool (optional, default false)", BOOL, optional=True)]


class Methods:
    """Ganeti's methods; clients have them by inheriting from it. Errors of the server are raised as Ganeti's classes."""

    @method(CHANGES)
    def submit_job(self, ops: OpsOfJob) -> int:
        """Queue one job of opcodes in wire form; its id. @raise GenericError: the queue is drained."""

    @method(CHANGES)
    def submit_job_to_drained_queue(self, ops: OpsOfJob) -> int:
        """Queue one job even while the queue is drained; its id."""

    @method(CHANGES)
    def submit_many_jobs(
        self, jobs: Annotated[Sequence[Ops], Param("list of lists of opcode objects", list_of(OBJECTS))]
    ) -> list[Any]:
        """Queue jobs; for each [True, id] or [False, message], in order."""

    @method(WAITS)
    def wait_for_job_change(
        self,
        job_id: Job,
        fields: Annotated[Sequence[str], Param("list of field names", STRINGS)],
        previous_info: Annotated[list[Any] | None, Param("previous job info: list or null", nullable(LIST))],
        previous_serial: Annotated[int | None, Param("previous log serial: int or null", nullable(INT))],
        timeout: Annotated[int, Param("timeout: int seconds", INT, most=WAIT_FOR_JOB_CHANGE_CAP)] = CLIENT_POLL,
    ) -> Any:
        """[field values, new log entries] once they differ, or after the time-out in seconds the unchanged ones; old
        masters answer "nochange" then. @raise JobLost: no such job.
        """

    @method(CHANGES)
    def pickup_job(self, job_id: Job) -> Any:
        """Internal to the queue: servers refuse it."""

    @method(CHANGES)
    def cancel_job(self, job_id: Job, kill: Kill = False) -> list[Any]:
        """[whether it was cancelled, message]; kill ends a running job by force."""

    @method(CHANGES)
    def change_job_priority(self, job_id: Job, priority: Annotated[int, Param("priority int", INT)]) -> list[Any]:
        """[whether it was changed, message]."""

    @method(CHANGES)
    def archive_job(self, job_id: Job) -> bool:
        """Whether the job was moved to the archive."""

    @method(CHANGES)
    def auto_archive_jobs(
        self,
        age: Annotated[int, Param("age int seconds; -1 for all", INT)],
        timeout: Annotated[int, Param("timeout int seconds", INT)] = AUTO_ARCHIVE,
    ) -> list[Any]:
        """Archive jobs ended more than `age` seconds ago (-1: all); [archived, not looked at in time]."""

    @method(TELLS)
    def query(
        self,
        resource: Resource,
        fields: Fields,
        query_filter: Annotated[list[Any] | None, Param("filter or null", nullable(LIST))] = None,
    ) -> dict[str, Any]:
        """{"fields": definitions, "data": rows of [status, value]}."""

    @method(TELLS)
    def query_fields(
        self,
        resource: Resource,
        fields: Annotated[Sequence[str] | None, Param("list of fields or null", nullable(STRINGS))] = None,
    ) -> dict[str, Any]:
        """{"fields": definitions}; of all fields without a list."""

    @method(TELLS)
    def query_jobs(
        self,
        job_ids: Annotated[Sequence[JobId] | None, Param("list of job ids or null", nullable(list_of(JOB_ID)))],
        fields: Fields,
    ) -> list[Any]:
        """One row a job, all jobs without a list; a missing job gives nulls."""

    @method(TELLS)
    def query_filters(self, uuids: Uuids, fields: Fields) -> list[Any]:
        """One row a job filter rule."""

    @method(TELLS, asks_nodes=True)
    def query_instances(self, names: Names, fields: Fields, locking: NoLock = False) -> list[Any]:
        """One row an instance; all without names, unknown names left out."""

    @method(TELLS, asks_nodes=True)
    def query_nodes(self, names: Names, fields: Fields, locking: NoLock = False) -> list[Any]:
        """One row a node; all without names, unknown names left out."""

    @method(TELLS)
    def query_groups(self, names: Names, fields: Fields, locking: NoLock = False) -> list[Any]:
        """One row a node group; all without names, unknown names left out."""

    @method(TELLS)
    def query_networks(self, names: Names, fields: Fields, locking: NoLock = False) -> list[Any]:
        """One row a network; all without names, unknown names left out."""

    @method(TELLS, asks_nodes=True)
    def query_exports(
        self, nodes: Annotated[Sequence[str], Param("list of node names", STRINGS)], locking: NoLock = False
    ) -> list[Any]:
        """[node, export] of each export found."""

    @method(TELLS)
    def query_config_values(self, names: Names) -> list[Any]:
        """The values of some settings, None for unknown names."""

    @method(TELLS, any_args=True)
    def query_cluster_info(self) -> dict[str, Any]:
        """What gnt-cluster info shows."""

    @method(TELLS)
    def query_tags(
        self, kind: TagKind, name: Annotated[str, Param("name (empty string for cluster)", STRING)] = ""
    ) -> list[str]:
        """The tags of an object; the cluster has no name."""

    @method(CHANGES)
    def set_drain_flag(self, drain: Annotated[bool, Param("bool", BOOL)]) -> bool:
        """Refuse new jobs, or take them again."""

    @method(CHANGES)
    def set_watcher_pause(self, until: Until) -> Any:
        """Pause the watcher until a time in seconds since the epoch, None to go on; the same is returned."""

    @method(CHANGES)
    def replace_filter(
        self,
        uuid: Annotated[str | None, Param("uuid or null", nullable(STRING))],
        priority: Annotated[int, Param("priority int >= 0", NATURAL)],
        predicates: Annotated[list[Any], Param("list of predicates", LIST)],
        action: Annotated[Any, Param("action", ANYTHING)],
        reason: Annotated[list[Any], Param("reason trail list of [source, text, nanoseconds]", list_of(LIST))],
    ) -> str:
        """Set a job filter rule, a new one without uuid; its uuid."""

    @method(CHANGES)
    def delete_filter(self, uuid: Annotated[str, Param("uuid", STRING)]) -> Any:
        """Remove a job filter rule."""


METHODS = table_of(Methods)

"""What changes in a cluster, as its event stream tells it (doc/design/events.rst)."""

from enum import StrEnum
from typing import Literal

import msgspec


class Kind(StrEnum):
    """What an event is about; clients choose among these."""

    JOB = "job"
    OPCODE = "opcode"
    LOG = "log"
    INSTANCE = "instance"
    NODE = "node"
    GROUP = "group"
    NETWORK = "network"
    CLUSTER = "cluster"
    FILTER = "filter"


#: The event that nobody has to ask for: what came before it is not known.
GAP = "gap"

JobStatus = Literal["queued", "waiting", "canceling", "running", "canceled", "success", "error"]
#: An object that a job is about: "instance", "node", "group" or "network", and its name as the job has it.
ObjectRef = tuple[Kind, str]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """One change. `time` is in seconds since the epoch: when the master daemon took note of it."""

    time: float


class JobEvent(Event, frozen=True, kw_only=True, tag="job"):
    """A job was received or archived, its file is lost, or its status or priority is another now.

    `about` names the objects of all its opcodes, unless it has left the queue; when there are too many, `about_more` is set.
    `summary` comes with "received" only: one text an opcode, the first so many.
    """

    job: int
    change: Literal["received", "status", "priority", "archived", "lost"]
    status: JobStatus
    priority: int
    about: tuple[ObjectRef, ...] = ()
    about_more: bool = False
    summary: tuple[str, ...] = ()


class OpcodeEvent(Event, frozen=True, kw_only=True, tag="opcode"):
    """The opcode of a job at `index` has another status."""

    job: int
    index: int
    op_id: str
    status: JobStatus
    about: tuple[ObjectRef, ...] = ()
    about_more: bool = False


class LogEvent(Event, frozen=True, kw_only=True, tag="log"):
    """A message of an opcode. `time` is the message's own; of a long text (`cut`) the job's log has the rest.

    What is no text, as entries about the steps of a job's work (doc/design/undo.rst), is given as JSON.
    """

    job: int
    index: int
    serial: int
    type: str
    text: str
    cut: bool = False
    about: tuple[ObjectRef, ...] = ()
    about_more: bool = False


class ObjectEvent(Event, frozen=True, kw_only=True):
    """An object of the configuration was added, changed or removed.

    The serial numbers are those before and after, where there are such; filter rules have none.
    `fields` names what is different, not how; an instance whose disk changed has "disks" in it.
    """

    change: Literal["added", "changed", "removed"]
    uuid: str
    name: str
    old_name: str | None = None
    old_serial: int | None = None
    new_serial: int | None = None
    fields: tuple[str, ...] = ()


class InstanceEvent(ObjectEvent, frozen=True, kw_only=True, tag="instance"):
    """An instance, or one of its disks."""


class NodeEvent(ObjectEvent, frozen=True, kw_only=True, tag="node"):
    """A node."""


class GroupEvent(ObjectEvent, frozen=True, kw_only=True, tag="group"):
    """A node group."""


class NetworkEvent(ObjectEvent, frozen=True, kw_only=True, tag="network"):
    """A network."""


class ClusterEvent(ObjectEvent, frozen=True, kw_only=True, tag="cluster"):
    """The cluster's own settings."""


class FilterEvent(ObjectEvent, frozen=True, kw_only=True, tag="filter"):
    """A filter rule of the job queue; its name is its uuid."""


class GapEvent(Event, frozen=True, kw_only=True, tag="gap"):
    """Events are missing here: who keeps a picture of the cluster must read all objects of these kinds anew, now.

    "restart": the master daemon was started again, or on another node, and does not know what was before.
    "overrun": there were more events since than are kept.
    """

    reason: Literal["restart", "overrun"]
    resync: tuple[Kind, ...]


AnyEvent = (
    JobEvent
    | OpcodeEvent
    | LogEvent
    | InstanceEvent
    | NodeEvent
    | GroupEvent
    | NetworkEvent
    | ClusterEvent
    | FilterEvent
    | GapEvent
)

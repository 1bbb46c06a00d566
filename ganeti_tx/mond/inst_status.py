"""What the instance status collectors of all hypervisors tell: what was asked of each instance, and what it does."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.confd.codec import MALFORMED
from ganeti_tx.mond.interfaces import KnownInstance, NodeFacts
from ganeti_tx.mond.status import Status, StatusCode, worst
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_REASONS = 1 << 20
DOWN = "down"
#: What an instance that should be up may do.
ALIVE = frozenset({"running", "blocked", "runnable"})
#: What passes by itself.
PASSING = frozenset({"dying", "shutdown"})


@frozen
class Seen:
    """An instance that the hypervisor has: its state in the hypervisor's words, how long it is up."""

    state: str
    uptime: str | None = None


class InstanceStatus(msgspec.Struct, frozen=True):
    """One instance in a report."""

    name: str
    uuid: str
    adminState: str  # the wire's names
    actualState: str
    uptime: str | None
    mtime: float
    state_reason: Any
    status: Status


class InstancesReport(msgspec.Struct, frozen=True):
    """The data of an instance status report."""

    instances: tuple[InstanceStatus, ...]
    status: Status


@frozen
class Reasons:
    """Why an instance's state was last changed, and when, from the files of the node's instance reasons."""

    files: IFiles
    paths: Paths

    def of(self, instance: KnownInstance) -> tuple[float, Any]:
        """The time of the last change and its reasons; where there is no file, the configuration's time and none."""
        path = self.paths.instance_reason_dir / instance.name
        if "/" in instance.name or not self.files.exists(path):
            return instance.mtime, []
        try:
            return self.files.stat(path).mtime, msgspec.json.decode(self.files.read(path, MAX_REASONS))
        except (OSError, *MALFORMED):
            return instance.mtime, []


def instances_report(facts: NodeFacts, kinds: frozenset[str], seen: Mapping[str, Seen], reasons: Reasons) -> Any:
    """The report about the node's own instances of some hypervisors."""
    if not facts.heard:
        unknown = Status(StatusCode.UNKNOWN, f"it is not known which instances this node has: {facts.fault}")
        return InstancesReport((), unknown)
    found = tuple(
        _instance(each, seen.get(each.name, Seen(DOWN)), reasons)
        for each in facts.instances
        if each.hypervisor in kinds
    )
    return InstancesReport(found, worst(each.status for each in found))


def _instance(instance: KnownInstance, seen: Seen, reasons: Reasons) -> InstanceStatus:
    mtime, why = reasons.of(instance)
    return InstanceStatus(
        name=instance.name,
        uuid=instance.uuid,
        adminState=instance.admin_state,
        actualState=seen.state,
        uptime=seen.uptime,
        mtime=mtime,
        state_reason=why,
        status=judged(instance.name, instance.admin_state, seen.state),
    )


def judged(name: str, admin_state: str, state: str) -> Status:
    """Whether an instance does what was asked of it."""
    if state in PASSING:
        return Status(StatusCode.TEMPORARY, f"{name} is {state}")
    if admin_state == "up":
        good = state in ALIVE
    else:
        good = state == DOWN
    return Status() if good else Status(StatusCode.BAD, f"{name} is {state} and should be {admin_state}")


def uptime_text(seconds: float) -> str:
    """As xl writes it: hours, minutes and seconds, after days when there are some."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    clock = f"{hour}:{minute:02d}:{second:02d}"
    return f"{days} day{'s' if days > 1 else ''}, {clock}" if days else clock

"""New parameters of an instance: of its backend, its hypervisor and its operating system."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.hypervisors import CLUSTER_ONLY
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.private import reveal
from ganeti_tx.model.params.backend import check_beparams, instance_beparams
from ganeti_tx.model.params.hypervisor import instance_hvparams, new_hvparams, typed_hvparams
from ganeti_tx.model.params.kinds import DEFAULT, updated
from ganeti_tx.model.params.os import check_osparams, fitting

#: What is a change by itself; the other parameters say how it is to be made.
CHANGES = (
    *("nics", "disks", "disk_template", "hvparams", "beparams", "os_name", "osparams", "osparams_private"),
    *("offline", "runtime_mem", "pnode", "pnode_uuid", "instance_communication"),
)


def refuse_nothing(op: OpInstanceSetParams) -> None:
    """@raise OpPrereqError: wrong_input, no change is asked for."""
    if all(getattr(op, name) in (None, (), {}) for name in CHANGES):
        raise OpPrereqError(f"No changes submitted; give at least one of {', '.join(CHANGES)}", ECode.INVAL)


def with_parameters(op: OpInstanceSetParams, cluster: Cluster, instance: Instance) -> Instance:
    """The instance with what was asked for. @raise OpPrereqError: wrong_input, why it cannot have that."""
    refuse_cluster_only(op)
    twice = sorted(op.osparams.keys() & (op.osparams_private or {}).keys())
    if twice:
        raise OpPrereqError(f"OS parameter {twice[0]} is given both as public and as private", ECode.INVAL)
    try:
        wanted = replace(
            instance,
            os=op.os_name or instance.os,
            beparams=updated(instance.beparams, check_beparams(op.beparams)),
            hvparams=updated(instance.hvparams, new_hvparams(instance.hypervisor, op.hvparams)),
            osparams=changed_osparams(instance.osparams, op.osparams, "osparams"),
            osparams_private=changed_osparams(
                instance.osparams_private, reveal(op.osparams_private), "osparams_private"
            ),
        )
        instance_beparams(cluster, wanted)
        typed_hvparams(wanted.hypervisor, instance_hvparams(cluster, wanted))
    except OpPrereqError:
        raise
    except GenericError as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None
    return wanted


def refuse_cluster_only(op: OpInstanceSetParams) -> None:
    """@raise OpPrereqError: a hypervisor parameter is one that only the cluster sets."""
    if names := sorted(op.hvparams.keys() & CLUSTER_ONLY):
        raise OpPrereqError(
            "The following hypervisor parameters are global and cannot be customized at instance level, please modify"
            f" them at cluster level: {', '.join(names)}",
            ECode.INVAL,
        )


def changed_osparams(held: Mapping[str, str], given: Mapping[str, object], path: str) -> dict[str, str]:
    """Those of an instance; null and "default" take one away. @raise ParameterError: a value is no text, or they are too much."""
    gone = {name for name, value in given.items() if value in (None, DEFAULT)}
    kept = {name: value for name, value in held.items() if name not in gone}
    added = check_osparams({name: value for name, value in given.items() if name not in gone}, path)
    return fitting({**kept, **added}, path) if added else kept


def told_parameters(op: OpInstanceSetParams) -> list[tuple[str, object]]:
    """What is told of the change; private values are not shown."""
    return [
        *((f"hv/{name}", value) for name, value in op.hvparams.items()),
        *((f"be/{name}", value) for name, value in op.beparams.items()),
        *((f"os/{name}", value) for name, value in op.osparams.items()),
        *((f"os_private/{name}", f"Private(?, descr={name!r})") for name in op.osparams_private or {}),
    ]

"""Backend parameters: what an instance gets, whatever runs it."""

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.params.kinds import Size, check, fill, typed

#: The word of old clients that sets both `minmem` and `maxmem`.
MEMORY = "memory"


class BackendParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """Memory in MiB, processors, and how failover treats the instance."""

    always_failover: bool = False
    auto_balance: bool = True
    maxmem: Size = 128
    minmem: Size = 128
    spindle_use: int = 1
    vcpus: int = 1


def fill_beparams(cluster: Cluster, own: Params | None = None) -> Params:
    """All parameters: built-in, then the cluster's, then an instance's own."""
    return fill(BackendParams, cluster.beparams.get("default", {}), own or {})


def instance_beparams(cluster: Cluster, instance: Instance) -> BackendParams:
    """All backend parameters of an instance."""
    return typed_beparams(fill_beparams(cluster, instance.beparams))


def typed_beparams(params: Params) -> BackendParams:
    """Filled parameters as a struct. @raise ParameterError: they do not fit, or minmem is above maxmem."""
    return within_bounds(typed(BackendParams, params, "beparams"))


def check_beparams(given: Params) -> dict[str, object]:
    """Given parameters in their types, the legacy C{memory} taken apart.

    @raise ParameterError: unknown, or memory beside minmem or maxmem. @raise TypeEnforcementError: of another type.
    """
    return check(BackendParams, without_memory(given), "beparams")


def without_memory(given: Params) -> Params:
    """The legacy word in today's."""
    if MEMORY not in given:
        return given
    if "minmem" in given or "maxmem" in given:
        raise ParameterError("beparams.memory: cannot be given together with minmem or maxmem")
    rest = {name: value for name, value in given.items() if name != MEMORY}
    return {**rest, "minmem": given[MEMORY], "maxmem": given[MEMORY]}


def within_bounds(params: BackendParams) -> BackendParams:
    """The same parameters. @raise ParameterError: they contradict each other."""
    if params.minmem > params.maxmem:
        raise ParameterError(f"beparams.minmem: {params.minmem} MiB is above maxmem ({params.maxmem} MiB)")
    if params.vcpus < 1:
        raise ParameterError(f"beparams.vcpus: must be at least 1, got {params.vcpus}")
    return params

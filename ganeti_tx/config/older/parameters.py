"""Parameters of instances: those that have another name today, and those that nobody knows any more."""

from collections.abc import Iterator, Set

from ganeti_tx.config.older.raw import Raw, mapping, objects
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.params.kinds import defaults_of, types_of


def name_parameters(raw: Raw) -> None:
    """One size of memory became two; what no hypervisor takes is dropped, as its instances could not be started with it."""
    cluster = mapping(raw, "cluster")
    for params in (*objects(cluster, "beparams"), *(mapping(each, "beparams") for each in objects(raw, "instances"))):
        memory = params.pop("memory", None)
        if memory is not None:
            params.setdefault("maxmem", memory)
            params.setdefault("minmem", memory)
    for hypervisor, params in by_hypervisor(mapping(cluster, "hvparams")):
        keep(params, known_to(hypervisor))
    for hypervisor, params in own_hvparams(raw):
        keep(params, known_to(hypervisor) - CLUSTER_ONLY)


def own_hvparams(raw: Raw) -> Iterator[tuple[Hypervisor, Raw]]:
    """Those of operating systems and instances."""
    for os in objects(mapping(raw, "cluster"), "os_hvp"):
        yield from by_hypervisor(os)
    for instance in objects(raw, "instances"):
        yield from by_hypervisor({str(instance.get("hypervisor")): instance.get("hvparams")})


def by_hypervisor(held: Raw) -> Iterator[tuple[Hypervisor, Raw]]:
    """The parameters of hypervisors that there are."""
    for name in held:
        if name in tuple(Hypervisor):
            yield Hypervisor(name), mapping(held, name)


def known_to(hypervisor: Hypervisor) -> frozenset[str]:
    """The names of a hypervisor's parameters."""
    return frozenset(types_of(HYPERVISORS[hypervisor].params))


def own_parameters(hypervisor: Hypervisor) -> frozenset[str]:
    """The names of those that Ganeti does not know: unset unless somebody has set them."""
    return known_to(hypervisor) - defaults_of(HYPERVISORS[hypervisor].params).keys()


def keep(params: Raw, names: Set[str]) -> None:
    """Drop the others, in place."""
    for name in params.keys() - names:
        del params[name]

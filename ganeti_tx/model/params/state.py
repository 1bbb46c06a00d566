"""Hypervisor state and disk state: what is said by hand of the resources of nodes, by hypervisor or kind of storage."""

from collections.abc import Collection, Mapping

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import Hypervisor, StorageType

#: Only of volume groups anything can be said.
STORAGE = tuple(
    word for word, template in TEMPLATES.items() if template.storage is StorageType.LVM_VG and not template.secondaries
)


def changed_hv_state(held: Params, given: Params | None) -> Params:
    """By hypervisor. @raise OpPrereqError: wrong_input, there is no such hypervisor."""
    return laid_over(held, given or {}, tuple(Hypervisor), "Invalid hypervisor(s) in hypervisor state")


def changed_disk_state(held: Params, given: Params | None) -> Params:
    """By kind of storage. @raise OpPrereqError: wrong_input, nothing can be said of that kind."""
    return laid_over(held, given or {}, STORAGE, "Invalid storage type(s) in disk state")


def laid_over(held: Params, given: Params, known: Collection[str], wrong: str) -> dict[str, object]:
    """What is given counts above what is held, parameter by parameter."""
    if unknown := sorted(set(given) - set(known)):
        raise OpPrereqError(f"{wrong}: {', '.join(unknown)}; allowed are {', '.join(known)}", ECode.INVAL)
    return {**held, **{name: joined(held.get(name), params) for name, params in given.items()}}


def joined(held: object, given: object) -> object:
    """Two tables in one, with those inside them."""
    if not (isinstance(held, Mapping) and isinstance(given, Mapping)):
        return given
    return {**held, **{name: joined(held.get(name), value) for name, value in given.items()}}

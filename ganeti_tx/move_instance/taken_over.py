"""What the destination gets of what the source tells: whoever may change the instance there has no say on nodes here."""

from collections.abc import Callable, Mapping
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.from_elsewhere import FromElsewhere
from ganeti_tx.model.params.defaults import GuestDefaults
from ganeti_tx.move_instance.command_words import Wanted
from ganeti_tx.move_instance.new_instance import nics_of

OPTION = "--dest-hypervisor"


def taken_over(
    info: Mapping[str, Any], wanted: Wanted, destination: GuestDefaults, warn: Callable[[str], None]
) -> Mapping[str, Any]:
    """What counts of it, with the hypervisor that is meant; parameters of another one mean nothing.

    @param info: the result of OP_INSTANCE_QUERY_DATA. @raise OpPrereqError: the command line must say what the source says.
    """
    source = FromElsewhere("the source", destination, warn)
    told = info["hypervisor"]
    hypervisor = wanted.kind or known(told)
    if wanted.kind is None:
        source.check_hypervisor(hypervisor, f"{OPTION}={hypervisor.value}")
    own = dict(info["hv_instance"]) if hypervisor == told else {}
    given = {key: value for key, value in own.items() if key not in wanted.hypervisor}
    for index, nic in enumerate(nics_of(info["nics"], {})):
        source.tell_place(index, {key: nic[key] for key in nic if key not in wanted.nics.get(index, {})})
    return {
        **info,
        "hypervisor": hypervisor.value,
        "hv_instance": source.hvparams(given, hypervisor, str(info["os"]), "-H "),
    }


def known(hypervisor: Any) -> Hypervisor:
    """@raise OpPrereqError: nobody here knows it."""
    if hypervisor not in tuple(Hypervisor):
        raise OpPrereqError(
            f"the source has hypervisor {hypervisor!r:.100}; known are {', '.join(Hypervisor)}: {OPTION} names another",
            ECode.ENVIRON,
        )
    return Hypervisor(hypervisor)

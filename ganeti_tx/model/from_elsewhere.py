"""What a description that comes from elsewhere, an export's or another cluster's, may say of a new instance.

Whoever could write it does not decide what the instance has of its nodes: that is as the cluster has it, or the request's to say.
Where Ganeti's callers count on what comes along it is taken, and told.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.export_file import TOLD
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.params.defaults import GuestDefaults
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.nic import fill_nicparams

#: What a network says for all interfaces in it, and what an interface is tied to its node by.
FROM_NETWORK = ("mode", "link", "vlan")
PLACES = ("network", *FROM_NETWORK)


@frozen
class FromElsewhere:
    """@ivar whence: what has the description. @ivar here: what the cluster has that gets the instance."""

    whence: str
    here: GuestDefaults
    warn: Callable[[str], None]

    def check_hypervisor(self, hypervisor: Hypervisor, option: str) -> None:
        """@param option: by which a request says it. @raise OpPrereqError: guests of it reach their node."""
        usual = self.here.enabled_hypervisors[0]
        if not HYPERVISORS[hypervisor].confines and hypervisor != usual:
            raise OpPrereqError(
                f"{self.whence} has the hypervisor {hypervisor.value}, which does not keep guests apart from their node,"
                f" and is not the cluster's ({usual}); if it is meant give it: {option}",
                ECode.INVAL,
            )

    def hvparams(self, given: Params, hypervisor: Hypervisor, os: str, option: str) -> Params:
        """Those that are taken. @param option: by which a request says others, up to the name of one."""
        usual = {**HYPERVISORS[hypervisor].unset, **fill_hvparams(self.here, hypervisor, os)}
        foreign = {
            key: text
            for key, text in sorted((key, str(value)) for key, value in given.items())
            if HYPERVISORS[hypervisor].reaches_node(key, text) and text != str(usual.get(key))
        }
        for key, text in foreign.items():
            self.warn(
                f"hypervisor parameter {key} of {self.whence} is left out, as it is not the cluster's and says what the"
                f" instance has of its node: {text!r:.{TOLD}}; if it is meant give it: {option}{key}=..."
            )
        return {key: value for key, value in given.items() if key not in foreign}

    def tell_place(self, index: int, nic: Mapping[Any, Any]) -> None:
        """To what else than others a network interface is tied here. @param nic: what only the description says of it."""
        usual = fill_nicparams(self.here)
        said = {key: str(nic[key]) for key in PLACES if nic.get(key)}
        told = [f"{key} {value!r:.{TOLD}}" for key, value in said.items() if value != usual.get(key)]
        if told:
            self.warn(
                f"nic/{index} is tied to its node as {self.whence} says, and not as the cluster has it: {', '.join(told)};"
                f" if another is meant give it: --net {index}:..."
            )

    def tell_tags(self, tags: Iterable[str]) -> None:
        """What else the instance is known by, which may decide who has it."""
        if told := ", ".join(tags):
            self.warn(
                f"tags of {self.whence} are taken, by which instances may be given to people: {told!r:.{TOLD}}; if others"
                " are meant give them: --tags=..."
            )

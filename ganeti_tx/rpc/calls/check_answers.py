"""What a node answers to the checks of `node_verify`, each by its type: so that who judges need not ask what it was given."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.exclusive_storage import PHYSICAL_VOLUMES
from ganeti_tx.model.printable import printable
from ganeti_tx.model.storage_unit import VOLUME_GROUP

#: Under this are the checks that could not be made, or whose answer is not understood, each with the reason.
FAILED = "failed"
#: Characters of why an answer is not understood.
MAX_REASON = 300

Fault = str | None
LogicalId = Annotated[list[Any], msgspec.Meta(min_length=1)]


class ToldModule(NamedTuple):
    """What a node tells of what makes its mirrors."""

    version: str
    helper: str
    minors: list[int]


class ToldProvider(NamedTuple):
    """What a node tells of a provider of external storage; `parameters` are names with what they mean.

    `identity`: those of them that together name storage which is there already; older nodes do not tell.
    """

    name: str
    path: str
    fault: str
    parameters: list[tuple[str, str]]
    identity: tuple[str, ...] = ()


#: The type of the answer to each check.
ANSWERS: Mapping[str, Any] = {
    FAILED: dict[str, str],
    "version": tuple[int, str],
    "time": float,
    "hypervisor": dict[str, Fault],
    "hvparams": list[tuple[str, str, str]],
    "kept-owners": dict[str, list[str]],
    "told-guests": list[str] | str,
    "disk-formats": dict[str, dict[str, str] | str],
    "volumes": dict[DiskTemplate, list[LogicalId] | str],
    "named-pools": list[Fault],
    "oob-paths": list[Fault],
    "mirrors": dict[str, ToldModule | str],
    "storage-providers": list[ToldProvider],
    "certificates": list[tuple[str, float, str]],
    "ssh-reach": dict[str, str],
    PHYSICAL_VOLUMES: list[tuple[str, int]],
    VOLUME_GROUP: Fault,
    **{each.check.name: Fault for each in TEMPLATES.values() if each.check is not None},
    **dict.fromkeys(("bridges", "interfaces", "node-net-test", "node-setup", "open-paths", "user-scripts"), list[str]),
    **dict.fromkeys(("allowed-file-storage-paths", "ssh-files", "ssh-strangers", "ssh-clutter"), list[str]),
}


class CheckAnswers(dict[str, Any]):
    """Answers by the names of checks. What is not of its type in ANSWERS is not here, but named under FAILED."""

    @classmethod
    def of_wire(cls, raw: object) -> "CheckAnswers":
        """@raise ValidationError: it is no table of answers at all."""
        given = msgspec.convert(raw, dict[str, Any])
        found, odd = cls(), dict[str, str]()
        for name in ANSWERS:
            if (answer := given.get(name)) is not None:
                try:
                    found[name] = msgspec.convert(answer, ANSWERS[name])
                except msgspec.ValidationError as error:
                    odd[name] = f"its answer is not understood: {printable(str(error), MAX_REASON)}"
        if odd:
            found[FAILED] = {**found.get(FAILED, {}), **odd}
        return found

    def failed(self, name: str) -> Fault:
        """Why there is no answer to a check; None: it was made, or the node does not know it."""
        reasons: Mapping[str, str] = self.get(FAILED, {})
        return reasons.get(name)

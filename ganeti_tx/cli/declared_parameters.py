"""The types of the parameters that hypervisors and disk templates declare, in words."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ganeti_tx.model.disk_template import COMMON_KEYS, Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisor import HypervisorKind
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.params.kinds import Size, types_of

_WORDS: Mapping[object, str] = {bool: "bool", float: "float", int: "int", Size: "size"}


def words_of(params: type[Struct]) -> Mapping[str, str]:
    """The type of each parameter of a table."""
    return {name: _WORDS.get(declared, "string") for name, declared in types_of(params).items()}


def of_instances(hypervisor: Mapping[str, str]) -> Mapping[str, str]:
    """Of a hypervisor's parameters those that not the cluster alone has."""
    return {name: word for name, word in hypervisor.items() if name not in CLUSTER_ONLY}


#: Of all hypervisors together; no name has two types.
HYPERVISOR = {name: word for kind in HYPERVISORS.values() for name, word in words_of(kind.params).items()}
#: Of all disk templates together; no name has two types.
DISK_TEMPLATE = {name: word for template in TEMPLATES.values() for name, word in words_of(template.params).items()}
#: What may be said of a disk of one template or another, and the words for what is so as long as it lives.
DISK = sorted(COMMON_KEYS.union(*(template.known for template in TEMPLATES.values())))
FIXED = {name: words for template in TEMPLATES.values() for name, words in template.fixed.items()}


def choices_of(kinds: Iterable[HypervisorKind | Template]) -> Mapping[str, Sequence[str]]:
    """The words that some parameters may be, for any of the kinds."""
    found: dict[str, dict[str, None]] = {}
    for name, choices in (item for kind in kinds for item in kind.choices.items()):
        found.setdefault(name, {}).update(dict.fromkeys(str(word) for word in choices if word != ""))
    return {name: tuple(words) for name, words in found.items()}

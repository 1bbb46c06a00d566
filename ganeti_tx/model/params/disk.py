"""Disk parameters by template, of clusters and groups; and the shorter set that each disk carries to a node."""

from collections.abc import Mapping
from unicodedata import category

from msgspec.structs import replace

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.kinds import DEFAULT, check, fill, types_of
from ganeti_tx.model.volume_names import volume_group_fault

#: The category of control characters.
CONTROL = "Cc"


def fill_diskparams(cluster: Cluster, group: NodeGroup | None = None) -> dict[DiskTemplate, Params]:
    """All parameters of every template: built-in, then the cluster's, then the group's."""
    own = group.diskparams if group is not None else {}
    return {
        word: fill(template.params, cluster.diskparams.get(word, {}), own.get(word, {}))
        for word, template in TEMPLATES.items()
    }


def check_diskparams(given: Mapping[str, Params]) -> dict[DiskTemplate, dict[str, object]]:
    """Given parameters in their types, by template.

    @raise ParameterError: a template, a name or a word is unknown. @raise TypeEnforcementError: a value is of another type.
    """
    for template in given:
        if template not in tuple(DiskTemplate):
            raise ParameterError(f"diskparams.{template}: unknown template, allowed are {', '.join(DiskTemplate)}")
    return {
        DiskTemplate(word): check_params(TEMPLATES[DiskTemplate(word)], params, f"diskparams.{word}")
        for word, params in given.items()
    }


def check_params(template: Template, given: Params, path: str) -> dict[str, object]:
    """Given parameters of one template in their types; raises as `check_diskparams` does."""
    checked = check(template.params, given, path)
    for name, allowed in template.choices.items():
        if checked.get(name, DEFAULT) not in (DEFAULT, *allowed):
            raise ParameterError(
                f"{path}.{name}: {checked[name]!r} is not allowed; allowed are {', '.join(map(str, allowed))}"
            )
    for child in template.children:
        group = checked.get(child.pool_param or "", DEFAULT)
        if group != DEFAULT and (fault := volume_group_fault(f"{path}.{child.pool_param}", str(group))):
            raise ParameterError(fault)
    return checked


def provider_params(template: Template, params: Params) -> Params:
    """Of a disk's parameters those that are its provider's; the others are what the template declares."""
    ours = {*types_of(template.params), template.provider_key}
    return {name: value for name, value in params.items() if name not in ours}


def check_of_provider(params: Params, path: str) -> None:
    """What a provider's scripts are told is one line each: they may write it into files of lines.

    @raise ParameterError: there is a line's end, or another control character.
    """
    for name, value in params.items():
        if any(category(character) == CONTROL for character in f"{name}{value}"):
            raise ParameterError(
                f"{path}.{name}: {value!r:.100} is not allowed: control characters, such as a line's end, are not"
            )


def with_params(disk: Disk, filled: Mapping[DiskTemplate, Params]) -> Disk:
    """The disk, and those it is made of, with the parameters a node needs; what a disk sets itself counts most."""
    template, params = disk.template, filled[disk.dev_type]
    passed_on = {name for child in template.children for name in child.params.values()}
    own = {template.on_node.get(name, name): value for name, value in params.items() if name not in passed_on}
    children = [with_params(child, filled) for child in disk.children]
    for rank, declared in enumerate(template.children[: len(children)]):
        taken = {name: params[source] for name, source in declared.params.items()}
        children[rank] = replace(children[rank], params=taken)
    return replace(disk, params={**own, **(disk.params or {})}, children=tuple(children))

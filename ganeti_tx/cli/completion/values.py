"""Values of options: names of the cluster's, words of a fixed set, lists, and parameters as KEY=VALUE."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType

from ganeti_tx.cli.completion.names import INames
from ganeti_tx.cli.completion.offer import Candidate, Offer, begun, words
from ganeti_tx.cli.options import Option
from ganeti_tx.cli.parameter_types import BACKEND, NIC, NODE

#: By destination: a name of this kind.
NAMED = {
    "default_group": "group",
    "dst_node": "node",
    "instance_communication_network": "network",
    "new_primary_node": "node",
    "nodegroup": "group",
    "nodes": "node",
    "on_nodes": "node",
    "os": "os",
    "secondary_node": "node",
    "src_node": "node",
}
#: By what help calls the value, where a destination has several meanings.
NAMED_BY_METAVAR = {"<group>": "group", "<node>": "node"}
#: By destination: names of this kind, each behind a mark.
NAMED_LISTS = {"node": ("node", ":"), "target_groups": ("group", ",")}
FILES = frozenset({"cluster_domain_secret", "rapi_cert", "spice_cacert", "spice_cert", "tags_source"})
KEYS: Mapping[str, Mapping[str, str]] = {"beparams": BACKEND, "ndparams": NODE, "nicparams": NIC}
#: By destination: the table whose kinds declare the parameters.
_KINDS = {"hvparams": "HYPERVISORS", "hypervisor": "HYPERVISORS", "diskparams": "TEMPLATES"}


def value_offer(option: Option, typed: str, names: INames, resource: str) -> Offer:
    """What may stand for an option's value. @param resource: whose fields -o means."""
    if option.choices:
        return begun(words(option.choices), typed)
    if option.words:
        return listed(map(Candidate, option.words), typed.removeprefix("+"), "+" * typed.startswith("+"))
    if option.takes == "bool":
        return begun(words(("no", "yes")), typed)
    if option.dest == "output":
        return listed(names.fields(resource) if resource else (), typed.removeprefix("+"), "+" * typed.startswith("+"))
    if option.dest in FILES:
        return Offer(files=True)
    return _named(option, typed, names) or _of_model(option, typed) or _parameters(option, typed, names) or Offer()


def _named(option: Option, typed: str, names: INames) -> Offer | None:
    kind = NAMED.get(option.dest) or NAMED_BY_METAVAR.get(option.metavar or "")
    if kind is not None:
        return begun(Offer(tuple(names.of_kind(kind))), typed)
    if option.dest in NAMED_LISTS:
        kind, mark = NAMED_LISTS[option.dest]
        return listed(names.of_kind(kind), typed, mark=mark)
    return None


def _of_model(option: Option, typed: str) -> Offer | None:
    """Words of enumerations, which are loaded for those that need them only."""
    if option.dest in ("enabled_hypervisors", "enabled_disk_templates", "ipolicy_disk_templates"):
        table = _declared().HYPERVISORS if option.dest == "enabled_hypervisors" else _declared().TEMPLATES
        return listed([Candidate(str(word)) for word in table], typed)
    if option.dest == "alloc_policy":
        return begun(words(import_module("ganeti_tx.model.enums").AllocPolicy), typed)
    return None


def listed(candidates: Iterable[Candidate], typed: str, ahead: str = "", mark: str = ",") -> Offer:
    """The last one of a list; none that is in it already."""
    before, found, last = typed.rpartition(mark)
    had = set(before.split(mark))
    offered = Offer(tuple(each for each in candidates if each.word not in had))
    return begun(offered, last, ahead + before + found)


def _parameters(option: Option, typed: str, names: INames) -> Offer | None:
    if option.takes == "keyval":
        keys = _keys(option)
        return None if keys is None else _pairs(keys, typed, "", names, _choices(option))
    if option.takes != "identkeyval":
        return None
    idents = _idents(option)
    if idents is None:
        return None
    ident, mark, rest = typed.partition(":")
    if not mark:
        return begun(words(f"{each}:" for each in idents), typed)
    return _pairs(idents.get(ident, {}), rest, f"{ident}:", names, _choices(option, ident))


def _keys(option: Option) -> Mapping[str, str] | None:
    if option.dest == "hvparams":
        return dict(_declared().of_instances(_declared().HYPERVISOR))
    if option.dest == "ext_params":
        return dict.fromkeys(_declared().FIXED, "string")
    return KEYS.get(option.dest)


def _idents(option: Option) -> Mapping[str, Mapping[str, str]] | None:
    """What may stand ahead of the colon, and the keys behind it."""
    match option.dest:
        case dest if dest in _KINDS:
            kinds = getattr(_declared(), _KINDS[dest])
            keys = {str(word): _declared().words_of(kind.params) for word, kind in kinds.items()}
            return keys if dest != "hypervisor" else {word: _declared().of_instances(own) for word, own in keys.items()}
        case "disks":
            return _numbered(_declared().DISK)
        case "nics":
            return _numbered(import_module("ganeti_tx.cli.instance.devices").NIC_KEYS)
    return None


def _choices(option: Option, ident: str | None = None) -> Mapping[str, Sequence[str]]:
    """Of the keys those whose values are words of a fixed set; of all kinds, if none is named ahead of them."""
    if option.dest in ("nics", "nicparams"):
        return {"mode": tuple(import_module("ganeti_tx.model.enums").NicMode)}
    if option.dest in ("disks", "ext_params"):
        fixed: Mapping[str, Sequence[str]] = _declared().FIXED
        return fixed
    if option.dest not in _KINDS:
        return {}
    kinds = getattr(_declared(), _KINDS[option.dest])
    choices: Mapping[str, Sequence[str]] = _declared().choices_of(
        kind for word, kind in kinds.items() if ident in (None, word)
    )
    return choices


def _numbered(keys: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """The first devices; add and remove are for those that are there."""
    return dict.fromkeys((*map(str, range(8)), "add", "remove"), dict.fromkeys(keys, "string"))


def _pairs(
    keys: Mapping[str, str], typed: str, ahead: str, names: INames, choices: Mapping[str, Sequence[str]]
) -> Offer:
    before, mark, last = typed.rpartition(",")
    key, has_value, value = last.partition("=")
    if not has_value:
        had = {pair.partition("=")[0] for pair in before.split(",")}
        return begun(words(f"{each}=" for each in keys if each not in had), last, ahead + before + mark)
    whole = f"{ahead}{before}{mark}{key}="
    if keys.get(key) == "bool":
        return begun(words(("false", "true")), value, whole)
    if key in choices and key in keys:
        return begun(words(choices[key]), value, whole)
    if key == "network" and key in keys:
        return begun(Offer(tuple(names.of_kind("network"))), value, whole)
    return Offer()


def _declared() -> ModuleType:
    return import_module("ganeti_tx.cli.declared_parameters")

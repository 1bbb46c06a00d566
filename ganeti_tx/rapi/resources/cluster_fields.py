"""What is told of the cluster (Ganeti 3.0 LUXI table, QueryClusterInfo), with the schemas of the values."""

from collections.abc import Iterable, Mapping

from msgspec import inspect

from ganeti_tx.model.settings.setting import Setting
from ganeti_tx.model.settings.table import DECLARED
from ganeti_tx.rapi.operations.opcode_schemas import schema_of
from ganeti_tx.rapi.operations.operation import Schema
from ganeti_tx.rapi.operations.schemas import INTEGER, TEXT, exactly
from ganeti_tx.rapi.resources.fields import TEXTS, TRACKED


def told(settings: Iterable[Setting]) -> dict[str, Schema]:
    """The schema of each fact about settings."""
    return {fact.name: schema_of(inspect.type_info(fact.type)) for setting in settings for fact in setting.facts}


def aliases(settings: Iterable[Setting]) -> dict[str, str]:
    """The parameters that change what is told under another name: both names are understood, and both told."""
    return {
        setting.parameter: setting.facts[0].name
        for setting in settings
        if setting.changes and setting.facts and setting.parameter not in [fact.name for fact in setting.facts]
    }


ALIASES = aliases(DECLARED)
VERSIONS: Mapping[str, Schema] = {
    "software_version": TEXT,
    "protocol_version": INTEGER,
    "config_version": INTEGER,
    "os_api_version": INTEGER,
    "export_version": INTEGER,
    "vcs_version": TEXT,
    "architecture": TEXTS,
}
SETTINGS: Mapping[str, Schema] = {"name": TEXT, "master": TEXT, **told(DECLARED)}
CLUSTER: Mapping[str, Schema] = {
    **VERSIONS,
    **SETTINGS,
    **{name: schema for name, schema in TRACKED.items() if name != "serial_no"},
    **{alias: SETTINGS[name] for alias, name in ALIASES.items()},
}
INFO: Schema = exactly(CLUSTER)

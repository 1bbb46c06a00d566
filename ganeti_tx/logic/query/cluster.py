"""The cluster as the one row of its table."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from ganeti_tx.logic.cluster.query import facts_now
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.query.language.field import Field, Gives, Kind, by_name, computed

#: Field, title, kind, what it is, and the name of the fact that it shows where that is another one.
COLUMNS = (
    ("architecture", "ArchInfo", Kind.OTHER, "Width of a pointer and kind of machine of the master", ""),
    ("cluster_name", "Name", Kind.TEXT, "Name of the cluster", "name"),
    ("config_version", "ConfigVersion", Kind.NUMBER, "Version of the configuration's format", ""),
    ("ctime", "CTime", Kind.TIMESTAMP, "Creation timestamp", ""),
    ("drain_flag", "QueueDrained", Kind.BOOL, "Whether no new jobs are taken", ""),
    ("export_version", "ExportVersion", Kind.NUMBER, "Version of the format of exports", ""),
    ("master_node", "Master", Kind.TEXT, "Name of the master node", "master"),
    ("mtime", "MTime", Kind.TIMESTAMP, "Modification timestamp", ""),
    ("name", "Name", Kind.TEXT, "Name of the cluster", ""),
    ("os_api_version", "OsApiVersion", Kind.NUMBER, "Newest version of the OS interface", ""),
    ("protocol_version", "ProtocolVersion", Kind.NUMBER, "Version of the protocol between nodes", ""),
    ("software_version", "SoftwareVersion", Kind.TEXT, "Version of the program", ""),
    ("tags", "Tags", Kind.OTHER, "Tags", ""),
    ("vcs_version", "VCSVersion", Kind.TEXT, "Version of the program's source", ""),
)
#: Those that a cluster need not have.
OPTIONAL = (
    ("volume_group_name", "VgName", Kind.TEXT, "Name of the volume group of nodes", ""),
    ("watcher_pause", "WatcherPause", Kind.TIMESTAMP, "Until when the watcher leaves the cluster alone", ""),
)


def column(name: str, title: str, kind: Kind, doc: str, fact: str, gives: Gives = Gives.VALUE) -> Field:
    """A field that shows a fact."""
    return computed(name, title, kind, doc, itemgetter(fact or name), gives=gives)


class ClusterTable:
    """See `JobTable`; a row is a mapping of facts."""

    fields: Mapping[str, Field] = by_name(
        [column(*each) for each in COLUMNS], [column(*each, gives=Gives.MAYBE) for each in OPTIONAL]
    )

    async def rows(self, unit: LogicalUnit[Any], wanted: frozenset[str]) -> tuple[Sequence[Any], None]:
        """See `JobTable`."""
        facts = await facts_now(unit.config)
        state = unit.context.master_state
        return [{**facts, "drain_flag": state.is_drained(), "watcher_pause": state.watcher_pause()}], None

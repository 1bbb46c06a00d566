"""gnt-cluster info, version and getmaster."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.cluster.setting_forms import FORMS, Info, Number
from ganeti_tx.cli.options import ROMAN, TABLE, TREE, Command
from ganeti_tx.cli.output import format_time
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show, show_tree
from ganeti_tx.cli.roman import roman
from ganeti_tx.cli.session import Session, master_name, rooted
from ganeti_tx.cli.tree import Labelled, Told
from ganeti_tx.errors import ExitCode
from ganeti_tx.model import search_paths
from ganeti_tx.model.settings.setting import Section, Setting
from ganeti_tx.model.settings.table import DECLARED

#: What of the settings stands before the search paths.
SEARCHED_AFTER = "prealloc_wipe_disks"


def info(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The cluster's settings."""
    number = _roman if options.roman_integers else _plain
    cluster = session.client.query_cluster_info()
    described = _described({**cluster, **_default_group(session, cluster)}, number, session.environ)
    show_tree(session, described)
    return ExitCode.SUCCESS


def _roman(value: Any) -> Told:
    return Told(roman(value), value)


def _plain(value: Any) -> Told:
    return Told(str(value), value)


def _default_group(session: Session, cluster: Info) -> Info:
    """By name; all else that has one is told by name already."""
    found = session.client.query("group", ["name"], ["==", "uuid", cluster["default_group"]])["data"]
    return {"default_group": found[0][0][1]} if found else {}


def _described(cluster: Info, number: Number, environ: Mapping[str, str]) -> Labelled:
    return [
        ("Cluster name", cluster["name"]),
        ("Cluster UUID", cluster["uuid"]),
        ("Creation time", Told(format_time(cluster["ctime"]), cluster["ctime"])),
        ("Modification time", Told(format_time(cluster["mtime"]), cluster["mtime"])),
        ("Master node", cluster["master"]),
        ("Architecture (this node)", Told("{} ({})".format(*cluster["architecture"]), cluster["architecture"])),
        ("Tags", Told(", ".join(sorted(cluster["tags"])) or "(none)", sorted(cluster["tags"]))),
        *_shown(DECLARED, Section.ABOVE, cluster, number),
        ("Cluster parameters", _parameters(cluster, number, environ)),
        *_shown(DECLARED, Section.BELOW, cluster, number),
    ]


def _shown(settings: Iterable[Setting], section: Section, cluster: Info, number: Number) -> Labelled:
    """The settings of a section under their labels."""
    return [
        (fact.label, FORMS[fact.form](cluster, cluster[fact.name], number))
        for setting in settings
        for fact in setting.facts
        if fact.label and fact.section is section
    ]


def _parameters(cluster: Info, number: Number, environ: Mapping[str, str]) -> Labelled:
    """The settings, with where this node searches in their midst."""
    place = 1 + next(index for index, setting in enumerate(DECLARED) if setting.name == SEARCHED_AFTER)
    return [
        *_shown(DECLARED[:place], Section.PARAMETERS, cluster, number),
        ("OS search path", _searched(environ, search_paths.OS_DEFINITIONS)),
        ("ExtStorage Providers search path", _searched(environ, search_paths.EXTERNAL_STORAGE)),
        *_shown(DECLARED[place:], Section.PARAMETERS, cluster, number),
    ]


def _searched(environ: Mapping[str, str], directories: Sequence[str]) -> Told:
    """As on this node; every node looks there below its own root."""
    found = [rooted(environ, f"/{directory}") for directory in directories]
    return Told(", ".join(found), found)


def version(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The versions that the cluster runs."""
    cluster = session.client.query_cluster_info()
    labels = {
        "Software version": "software_version",
        "Internode protocol": "protocol_version",
        "Configuration format": "config_version",
        "OS api version": "os_api_version",
        "Export interface": "export_version",
        "VCS version": "vcs_version",
    }
    lines = (f"{label}: {cluster[key]}" for label, key in labels.items())
    keys = list(labels.values())
    show(session, lines, lambda: {key: cluster[key] for key in keys}, keys)
    return ExitCode.SUCCESS


def getmaster(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The master's name, from what every node keeps: it works anywhere and with the master down."""
    master = master_name(session.environ, session.read)
    show(session, [master], lambda: {"master": master}, ["master"])
    return ExitCode.SUCCESS


INFO = Command(info, (), (ROMAN,), prints=TREE)
VERSION = Command(version, prints=TABLE)
GETMASTER = Command(getmaster, prints=TABLE)

"""The command lines that only show something, made of Ganeti's table of subcommands, arguments and options."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[2] / "cli/facts/cli.json"
#: Subcommands that show something and change nothing, by their names.
SHOWS = re.compile(
    r"list(-.*)?|info|diagnose|show-.*|search-tags|volumes|getmaster|version|queue|watcher|locks|console|health"
)
#: Objects of the scene, by the kind of an argument; the first of them is the best furnished.
NAMES: Mapping[str, Sequence[str]] = {
    "filter": ("FILTER",),
    "group": ("rack2", "default"),
    "instance": ("run1.dev.example", "soon1"),
    "jobid": ("1", "2"),
    "network": ("net1", "net2"),
    "node": ("node1", "node3.dev.example"),
    "os": ("busybox",),
    "unknown": ("name", "tags"),
}
NOBODY: Mapping[str, str] = {"jobid": "99999"}
#: Instead of what its kind says.
WORDS: Mapping[str, Sequence[str]] = {
    "gnt-cluster search-tags": ("e", "^a$", "nosuch", "*"),
    "gnt-cluster queue": ("info",),
    "gnt-cluster watcher": ("info",),
    "gnt-storage info": ("shelf", "nosuch", "partly shelf", "nowhere"),
    "gnt-instance console": ("--show-cmd run1.dev.example", "down1.dev.example"),
}
#: What is said of an option, instead of each of its choices; ``EVERY`` are all fields.
VALUES: Mapping[str, Sequence[str]] = {
    "separator": (":", "%20"),
    "output": ("name,uuid", "+uuid", "nosuch", "EVERY", ""),
    "nodes": ("node1", "nosuch"),
    "units": ("m", "g", "t", "h", "x"),
}
#: Of which the commands have no effect on what is shown, or wait.
LEFT_OUT = {"priority", "interval", "show_command", "dry_run"}
#: Filters, by the kind of what is listed.
FILTERS: Mapping[str, Sequence[str]] = {
    "instance": (
        'status%20==%20"running"',
        "name%20=*%20*1*",
        "pnode.group%20==%20default%20and%20",
        '"a"%20in%20tags',
    ),
    "node": ('role%20==%20"O"', "pinst_cnt%20>%200%20or%20offline"),
    "group": ('"east"%20in%20tags', "node_cnt%20<%202"),
    "jobid": ('status%20==%20"error"', "id%20<%205"),
}

#: One in so many lines is taken by the usual run.
USUAL = 7

Table = Mapping[str, Mapping[str, Mapping[str, Any]]]


def table() -> Table:
    """Each program's subcommands."""
    commands = json.loads(TABLE.read_text())["commands"]
    return {program: commands[program]["subcommands"] for program in commands}


def subcommands() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those that show something, as "PROGRAM SUBCOMMAND"."""
    for program, commands in table().items():
        for name, command in commands.items():
            if SHOWS.fullmatch(name):
                yield f"{program} {name}", command


def lines(command: str, table_entry: Mapping[str, Any]) -> Iterator[str]:
    """Command lines of one subcommand, the plain one first; blanks within a word are `%20`."""
    kinds = [argument["kind"] for argument in table_entry["args"] if argument["kind"] not in ("choice", "suggest")]
    needed = any(argument["min"] for argument in table_entry["args"])
    words = WORDS.get(command, NAMES.get(kinds[0], ()) if kinds else ())
    plain = f"{command} {words[0]}" if needed else command
    yield plain
    yield f"{command} {words[0]}" if not needed and words else f"{command} too many"
    yield from (f"{command} {word}" for word in words[1:])
    if kinds and command not in WORDS:
        yield f"{command} {NOBODY.get(kinds[0], 'nosuch')}"
        yield " ".join([command, words[0], NOBODY.get(kinds[0], "nosuch"), *words[1:]])
    for option in table_entry["options"]:
        yield from (f"{plain} {words}" for words in said(option, kinds[0] if kinds else ""))
    yield f"{plain} --nosuch"


def said(option: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Ways to say an option."""
    if option["dest"] in LEFT_OUT:
        return
    spelled = (option["long"] or option["short"])[0]
    if option["dest"] == "force_filter":
        yield from (f"{spelled} {text}" for text in FILTERS.get(kind, ()))
    elif not option["takes_value"]:
        yield spelled
    else:
        yield from (f"{spelled}={value}" for value in VALUES.get(option["dest"], option.get("choices", ())))


def every_line() -> dict[str, list[str]]:
    """All of them, by subcommand."""
    return {command: list(dict.fromkeys(lines(command, entry))) for command, entry in subcommands()}


def some_lines() -> dict[str, list[str]]:
    """The plain ones, and every seventh of the others."""
    every = every_line()
    rest = [line for lines in every.values() for line in lines[1:]]
    chosen = set(rest[::USUAL])
    return {command: [line for line in lines if line == lines[0] or line in chosen] for command, lines in every.items()}

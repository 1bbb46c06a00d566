"""What is another one in each cluster, and how it is made the same: figures of machines, times that something took, numbers."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ganeti_tx.runtime.paths import Paths

#: Where the recorded cluster had definitions of operating systems.
OS_PLACES = ("/usr/local/lib/ganeti/os/", "/usr/share/ganeti/os/")
HERE = f"{Paths().os_search_path[0]}/"
JOB_ID = re.compile(r"^(?:JobID: )?\d+$", re.MULTILINE)


class Rule(NamedTuple):
    """Of commands that begin so, what is replaced by what."""

    command: str
    pattern: re.Pattern[str]
    by: str


def rule(command: str, pattern: str, by: str) -> Rule:
    """One for all lines."""
    return Rule(command, re.compile(pattern, re.MULTILINE), by)


RULES: Sequence[Rule] = (
    # why a node daemon that is stopped cannot be asked: Ganeti's words, and ours
    rule("", r"Error 7: Failed to connect to \S+ port \d+ after \d+ ms: Couldn't connect to server", "UNREACHED"),
    rule("", r"(?:cannot reach node \S+ \([\d.]+\) for \w+: )?Connection refused", "UNREACHED"),
    rule("", "|".join(map(re.escape, OS_PLACES)), HERE),
    # memory and room
    rule("gnt-node list", r"\b\d+(?:\.\d+)?[MGT]\b", "SIZE"),
    # how often something was changed, by itself, and between tags and uuids of groups
    rule("gnt-group list", r"(\[\] +)\d+\b", r"\1N"),
    rule("gnt-network info", r"(Serial number: )\d+", r"\1N"),
    # where a list goes on in the next line, and where the nodes' addresses are in a map: Ganeti's cluster, and ours
    rule("gnt-network", r",\n +(?=\d)", ", "),
    rule("gnt-network", r"X\.{10}XXX\.{50}|XXXX\.{60}", "NODES"),
    # the last job of before a rule
    rule("gnt-filter info", r"(Watermark: )\d+", r"\1N"),
    rule("gnt-filter list", r"^((?:[0-9a-f-]{36}|<UUID>) +)\d+(?= +\d)", r"\1N"),
    # how many jobs, how long parts of them took, what is as long as a number, seconds with their fraction
    rule("gnt-job autoarchive", r"Archived \d+ jobs", "Archived N jobs"),
    rule("gnt-job info", r"(?<=delta )[\d.]+s|(?<=Total processing time: )[\d.]+", "N"),
    rule("gnt-job watch", r"^-+$", "----"),
    rule("gnt-job list", r"\[(?:<TIME epoch>|\d{10}), \d+\]", "[TIME]"),
    rule("gnt-debug submit-job", r"^(T:\w+ +)[\d.]+$", r"\1N"),
)


def same_figures(text: str, command: str) -> str:
    """What a command wrote, without them."""
    text = without_job_id(text)
    for each in RULES:
        if command.startswith(each.command):
            text = each.pattern.sub(each.by, text)
    return text


def without_job_id(text: str) -> str:
    """With any job in the place of one that is told by itself."""
    return JOB_ID.sub("JobID: N", text)

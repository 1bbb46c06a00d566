"""What differs wherever it occurs."""

import re

from attrs import evolve

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, in_order, replacing
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed

#: Commands that Ganeti 3.0 does not have.
OWN_COMMANDS = {
    "gnt-node ": ("group-add", "group-del", "group-list", "group-rename"),
    "gnt-network ": ("rename",),
    "gnt-cluster ": ("export-config",),
}


def command_names(printed: Printed) -> Printed:
    """Of a program's usage the names of the commands that Ganeti has."""
    names = re.findall(r"^ ([a-z][a-z-]*) +- ", printed.out, re.MULTILINE)
    own = next((names for program, names in OWN_COMMANDS.items() if program in printed.out), ())
    return Printed(printed.status, "\n".join(name for name in names if name not in own), "")


def listed(printed: Printed) -> Printed:
    """Names behind a colon, or joined by commas, without their order."""
    out = re.sub(r"(?<=are in use: ).*", lambda found: str(sorted(found[0].replace(",", "").split())), printed.out)
    out = re.sub(r"(?<=: )\S+, .*", lambda found: ", ".join(sorted(found[0].split(", "))), out)
    return evolve(printed, out=re.sub(r"\binst\d\S*,\S+", lambda found: ",".join(sorted(found[0].split(","))), out))


IN_GENERAL = (
    Difference("usage", "What a program says of its commands are our own words, for the same commands.", command_names),
    Difference(
        "no command",
        "A command that there is not is named; those that there are follow in one line.",
        lambda printed: Printed(printed.status, "", ""),
    ),
    Difference(
        "version",
        "The version is our own.",
        replacing(r"(gnt-\w+ \(ganeti).*|^Software version: .*|^VCS version: .*", r"\1"),
    ),
    Difference(
        "steps",
        "The steps of a job are shown, and of a dry run its locks and steps, too.",
        dropping(r" Locks: | \d+\. |Step \d+ of |Nothing would be changed"),
    ),
    Difference(
        "unknown",
        "A name that is not there is told on standard error.",
        dropping(r"^[\w ]+ '[\w.-]+' not known$|^[A-Z][\w ]* name \S+ not found$"),
    ),
    Difference(
        "descriptions",
        "The descriptions of fields are our own words.",
        replacing(r"^(\w+ +(?:Text|Number|Custom|Bool|Unit|Timestamp|Other) +\S+) .*", r"\1"),
    ),
    Difference(
        "failed",
        "A command of which a part has failed ends with 1.",
        lambda printed: evolve(printed, status=0 if printed.status == 1 else printed.status),
    ),
    Difference("names", "Things of one kind come in the order of their names.", in_order),
    Difference("listed", "Names of a list are in order.", listed),
    Difference(
        "unchanged", "What is so already is not told as changed.", dropping("^Modified node |^ - secondary_ip ")
    ),
    Difference("order", "Several faults of one command are found in another order.", dropping("^error type: ")),
    Difference(
        "early",
        "What cannot be done is refused before anything is tried.",
        lambda printed: evolve(printed, out="", err="") if printed.status else printed,
    ),
    Difference("learnt", "What was learnt before a refusal is told.", dropping("inherits netparams")),
    Difference(
        "reasons",
        "Why a node cannot do something is said in our own words.",
        replacing(r"((?:Can't get storage data from node|Out-of-band RPC failed on node) \S+): .*", r"\1"),
    ),
    Difference("secrets", "Secret parameters are not printed.", replacing(r"('a': ).*", r"\1SECRET")),
)

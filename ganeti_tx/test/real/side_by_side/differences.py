"""What both print differently on purpose, each with the reason; and what has no meaning in a comparison."""

import re
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from ganeti_tx.cli.roman import roman
from ganeti_tx.test.real.side_by_side.pair import Printed

#: Of a line, what Ganeti's command has done, or ours; without the difference.
Without = Callable[[str, Printed], Printed]

#: How it is told that a name is not there.
UNKNOWN = re.compile(r"^(?:[\w ]+ '[\w.-]+' not known|\w+ name [\w.-]+ not found)\n", re.MULTILINE)
#: Before what a job says.
TIME = re.compile(r"^\w{3} \w{3} +\d+ [\d:]+ \d{4}", re.MULTILINE)


@frozen
class Difference:
    """One kind of difference. @ivar key: names it in the page. @ivar why: a sentence for an administrator."""

    key: str
    why: str
    without: Without


def refused(line: str, printed: Printed) -> Printed:
    """Only the kind of error, if it is another than that the words are wrong."""
    if printed.status == 0:
        return printed
    kinds = re.findall(r"^error type: (?!wrong_input)\w+", printed.err, re.MULTILINE)
    return evolve(printed, err="\n".join(kinds))


def of_unknown(line: str, printed: Printed) -> Printed:
    """Without the line for each name that is not there."""
    if printed.status != 0 or line.split()[1] not in ("info", "show-ispecs-cmd"):
        return printed
    return evolve(printed, err=UNKNOWN.sub("", printed.err))


def of_no_fields(line: str, printed: Printed) -> Printed:
    """Nothing, of a list without fields."""
    return Printed(0, "", "") if line.endswith("--output=") else printed


def whole(line: str, printed: Printed) -> Printed:
    """Whole numbers as such."""
    return evolve(printed, out=re.sub(r"((?:cpu_speed|\w+-ratio): (?:default \()?\d+)\.0\b", r"\1", printed.out))


def own_settings(line: str, printed: Printed) -> Printed:
    """Without those that Ganeti does not have."""
    return evolve(printed, out=re.sub(r"^default (?:disk size|node group): .*\n", "", printed.out, flags=re.MULTILINE))


def in_roman(line: str, printed: Printed) -> Printed:
    """All numbers in Roman."""
    if "--roman" not in line:
        return printed
    return evolve(
        printed, out=re.sub(r"(?<=: )\d+$", lambda found: roman(int(found[0])), printed.out, flags=re.MULTILINE)
    )


def without_steps(line: str, printed: Printed) -> Printed:
    """Without what a job's log says of steps."""
    return evolve(printed, out=re.sub(r"(        +- Time: .*\n)?.*, step, .*\n", "", printed.out))


def of_mirrors(line: str, printed: Printed) -> Printed:
    """Nothing, of the command that asks another daemon."""
    return Printed(0, "", "") if line.startswith("gnt-node list-drbd") else printed


def of_own_arguments(line: str, printed: Printed) -> Printed:
    """Nothing, of arguments that only ours take."""
    return Printed(1, "", "") if line.startswith("gnt-os diagnose too") else printed


def of_words_left(line: str, printed: Printed) -> Printed:
    """Nothing, of words that Ganeti's command does not look at."""
    return Printed(0, "", "") if line == "gnt-cluster watcher info --nosuch" else printed


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "words", "What is refused ends with the same status and kind of error; our words name what would help.", refused
    ),
    Difference(
        "unknown", "A name that is not there is told on standard error; Ganeti's ``info`` says nothing.", of_unknown
    ),
    Difference(
        "no fields",
        "An empty list of fields means the usual ones; Ganeti's commands fail, most with a traceback.",
        of_no_fields,
    ),
    Difference("whole", "Whole numbers have no fraction in what ours print, as with Ganeti's own daemons.", whole),
    Difference(
        "own",
        "Ours show the settings ``default disk size`` and ``default node group``, which Ganeti does not have.",
        own_settings,
    ),
    Difference(
        "roman",
        "``--roman`` writes Roman numbers; Ganeti's, as Debian has them, write Arabic ones.",
        in_roman,
    ),
    Difference(
        "steps",
        "The steps of a job are shown in words; Ganeti's commands print them as they are in its log.",
        without_steps,
    ),
    Difference(
        "mirrors",
        "Ganeti's asks ``ganeti-confd`` on the master candidates; ours asks the master, and needs no other daemon.",
        of_mirrors,
    ),
    Difference(
        "more",
        "Ours take names of node groups, too.",
        of_own_arguments,
    ),
    Difference(
        "words left", "Ours refuse words that mean nothing there; Ganeti's does not look at them.", of_words_left
    ),
)


def reasons(line: str, stock: Printed, ours: Printed) -> list[str] | None:
    """The keys of the differences; None if there are others, too."""
    needed = list(DIFFERENCES)
    if not same(line, stock, ours, needed):
        return None
    for difference in DIFFERENCES:
        fewer = [each for each in needed if each is not difference]
        if same(line, stock, ours, fewer):
            needed = fewer
    return [difference.key for difference in needed]


def same(line: str, stock: Printed, ours: Printed, without: Sequence[Difference]) -> bool:
    """Whether both have done the same, but for some differences."""
    found = [meaningful(line, printed) for printed in (stock, ours)]
    for difference in without:
        found = [difference.without(line, printed) for printed in found]
    return found[0] == found[1]


def meaningful(line: str, printed: Printed) -> Printed:
    """Without blanks that only align, times of day, this cluster's place, figures that always change, and an order that varies.

    Of the parts of a policy Ganeti's commands print some in the order of a set of theirs.
    """
    out = TIME.sub("TIME", printed.out)
    out = re.sub(r"/tmp/gtx\w+/c/node1(?=/(?:srv/ganeti/(?:os|extstorage)|usr))", "", out)
    lines = [" ".join(each.split()) for each in out.splitlines()]
    if line.startswith("gnt-node list") and "-fields" not in line:
        lines = [re.sub(r"\b\d+(\.\d+)?(?=[MGT]?\b)", "N", each) for each in lines]
    if line.startswith(("gnt-group info", "gnt-cluster info")):
        lines = sorted(each.replace("- ", "", 1) for each in lines)
    return Printed(printed.status, "\n".join(lines) + "\n", TIME.sub("TIME", printed.err))

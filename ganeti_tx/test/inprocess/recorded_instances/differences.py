"""What differs on purpose from the record, each kind with its reason."""

from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from ganeti_tx.test.inprocess.recorded_instances.printed import Printed, alike
from ganeti_tx.test.inprocess.recorded_instances.without import (
    Pair,
    Without,
    by_name,
    descriptions,
    helped,
    interfaces_sorted,
    lines,
    nothing,
    refused,
    replaced,
    shown,
    words,
)


@frozen
class Difference:
    """One kind. @ivar key: names it in the page. @ivar why: a sentence for an administrator.

    @ivar without: makes both the same that differ only so. @ivar only: the numbers of the lines that it is about, if not all are.
    """

    key: str
    why: str
    without: Without
    only: Collection[int] | None = None

    def applied(self, number: int, pair: Pair) -> Pair:
        """Without it."""
        return pair if self.only is not None and number not in self.only else self.without(pair)


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "words",
        "What is refused ends with the same status and kind of error; our words tell what would help, and the kind also where"
        " Ganeti tells none.",
        words,
    ),
    Difference(
        "help",
        "What is refused is refused with Ganeti's sentence, to which ours add what would help, what may have been meant, or the"
        " kind.",
        helped,
    ),
    Difference(
        "another reason",
        "What is wrong in two ways is refused for the other one; a name that is not there is told as such.",
        refused,
        (71, 72, 122, 329, 416, 687),
    ),
    Difference(
        "earlier",
        "What can be seen to be wrong is refused before a job is submitted, or an allocator asked.",
        nothing,
        (287, 613, 615),
    ),
    Difference(
        "fault",
        "Ganeti ends with an assertion, a message about a corrupt configuration or a missing parameter that it sets itself,"
        " or accepts what cannot work.",
        nothing,
        (20, 44, 95, 184, 193, 198, 540, 546, 549, 586, 587, 588, 589),
    ),
    Difference(
        "clean-up",
        "A clean-up needs no target, so that no allocator is asked; with Ganeti it fails over to where the allocator says.",
        nothing,
        (490, 502, 512, 568, 596),
    ),
    Difference(
        "more",
        "Ours can do what Ganeti refuses: hotplugging with the fake hypervisor, an instance without an operating system that is not"
        " installed, information about an instance whose node does not answer.",
        nothing,
        (136, 233, 234, 665),
    ),
    Difference(
        "console",
        "The console of an instance that does not run is refused.",
        nothing,
        (444, 446),
    ),
    Difference(
        "asked",
        "``--ignore-consistency`` is not asked about where ``--force`` is given.",
        refused,
        (491,),
    ),
    Difference(
        "empty",
        "An empty answer is the one in brackets; Ganeti asks again.",
        nothing,
        (346,),
    ),
    Difference(
        "told",
        "Ours tell more: the new instance's identifier, the steps of a dry run, a policy that is ignored, the nodes that an"
        " allocator has chosen for several, how long a migration took, disks that a new primary node does not have.",
        lines(
            r"INFO: Instance \S+ has UUID| Locks: |<TIME ctime> +\d+\. |; ignored, as asked for|\* total time "
            r"|INFO: Selected nodes for instance b\d|WARNING: disk/\d is not on node|Can't get info from primary node"
        ),
    ),
    Difference(
        "disks at once",
        "A node makes disks ready and starts the instance in one call, whose error names the disk that is not there; Ganeti warns"
        " of each disk before.",
        lines(r"Could not prepare block device|Hint: If the message above"),
    ),
    Difference(
        "reached",
        "A node that cannot be reached is named by its name, with our reason; of an offline one other words tell what was left"
        " there; there is no metadata to be updated.",
        lines(
            r"Communication failure to node|Could not update metadata|Warning: can't|Could not remove d|could not shut down"
            r"|could not remove disk|cannot remove the disks"
        ),
    ),
    Difference(
        "pool",
        "Addresses of pools are chosen, and told, after those that are given.",
        interfaces_sorted,
        (12, 103),
    ),
    Difference(
        "serial",
        "An operation counts as one change of what it touches.",
        replaced(r"^  Serial number: \w+$"),
    ),
    Difference(
        "roman",
        "``--roman`` writes Roman numbers; Ganeti's, as Debian has it, writes Arabic ones.",
        replaced(r"^  Serial number: \w+$"),
        (163,),
    ),
    Difference(
        "by name",
        "Instances are shown in the order of their names.",
        by_name,
        (164,),
    ),
    Difference(
        "file",
        "A disk that is attached keeps its file.",
        replaced(r"(?<=\.disk)\d(?='| )"),
        (258,),
    ),
    Difference(
        "fields",
        "Descriptions of fields are our own.",
        descriptions,
        (157,),
    ),
    Difference(
        "usage",
        "What the subcommands do is told in our words, and on standard error where one does not exist.",
        shown,
        (1, 2, 559, 560, 714),
    ),
    Difference(
        "taken back",
        "What fails is taken back: an instance that could not be installed is not there, and one that could not be started or shut"
        " down is marked as before: a new one as down.",
        nothing,
        (),
    ),
    Difference(
        "networks",
        "An instance whose interface is in a network comes only to a node group that is connected to it.",
        nothing,
        (),
    ),
)
#: Lines after which this cluster's state was put right (`meanwhile.ASIDE`), with what the difference is.
AFTERWARDS: Mapping[int, str] = {**dict.fromkeys((118, 272, 418, 667), "taken back"), 523: "networks"}


def reasons(number: int, wanted: Printed, found: Printed) -> list[str] | None:
    """The keys of the differences that are needed; None if there are others, too."""
    afterwards = [AFTERWARDS[number]] if number in AFTERWARDS else []
    if alike(wanted, found):
        return afterwards
    needed = list(DIFFERENCES)
    if not _same(number, (wanted, found), needed):
        return None
    for difference in DIFFERENCES:
        fewer = [each for each in needed if each is not difference]
        if _same(number, (wanted, found), fewer):
            needed = fewer
    return [*(difference.key for difference in needed), *afterwards]


def _same(number: int, pair: Pair, without: Sequence[Difference]) -> bool:
    return alike(*left(number, pair, without))


def left(number: int, pair: Pair, without: Sequence[Difference] = DIFFERENCES) -> Pair:
    """Both without some differences."""
    for difference in without:
        pair = difference.applied(number, pair)
    return pair

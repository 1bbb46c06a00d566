"""What differs of `gnt-cluster verify`."""

from attrs import evolve

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, replacing
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed


def without_keys(printed: Printed) -> Printed:
    """Without what is said of keys; if nothing else is wrong, nothing is."""
    out = dropping("There is more than one key for node")(printed).out
    return evolve(printed, out=out, status=printed.status if "ERROR" in out else 0)


OF_VERIFY = (
    Difference(
        "cut",
        "Ganeti's verify fails with an error of its own there, and its output is cut short; ours goes on.",
        lambda printed: Printed(printed.status, "", ""),
    ),
    Difference("keys", "SSH keys that nodes had before they were added again are gone.", without_keys),
    Difference(
        "recorded faults",
        "Faults of certificates, SSH and policies that the recorded machines had besides are tested one by one.",
        dropping(
            r"shared public keys file|Client certificate digest|To rebuild node certificates|^.*The key for node \S+ in the cluster"
            r"|ssh communication with node|Disk template diskless is not allowed"
        ),
    ),
    Difference(
        "findings",
        "What is wrong is said in our own words, with Ganeti's code and the name of what it is about.",
        replacing(r"((?:ERROR|WARNING|NOTICE):(?:\w+:\w+:(?:<UUID [^>]+>|\S+?):| \w+ \S+: )).*", r"\1"),
    ),
    Difference(
        "reference",
        "Definitions of operating systems are compared with those of the first node; one that is invalid is only told as such.",
        dropping(r"OSes present on reference node"),
    ),
    Difference(
        "silence",
        "Of a node that does not answer those checks tell that would have needed its answer.",
        dropping(r"EINSTANCEDOWN|while getting disk information|ENODESSH|ENODEFILECHECK"),
    ),
    Difference(
        "master",
        "That the master is asked, too, is told for groups that it is not in.",
        dropping("Gathering information about the master node"),
    ),
)

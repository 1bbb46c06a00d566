"""What differs of the cluster's settings and of definitions of operating systems."""

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, replacing

OF_CLUSTER = (
    Difference(
        "own",
        "Settings and collectors of our own are shown, too.",
        replacing(r"^ *default (?:disk size|node group): .*\n|^  inst-status-kvm: *\n(?:    \S.*\n){2}"),
    ),
    Difference(
        "netdev",
        "The cluster's address is on another device.",
        replacing(r"(master netdev: ).*|(modify ssh setup: ).*|(netdev.*)\b(?:lo|nosuch0)\b", r"\1\2\3"),
    ),
    Difference(
        "roman",
        "Roman numbers are written.",
        replacing(r"^( *(?:candidate pool size|primary ip version|maximal number of jobs .*): ).*", r"\1"),
    ),
    Difference(
        "pool size",
        "How many master candidates there are too many is told where that is so.",
        dropping("master candidates, more than|more nodes are candidates"),
    ),
    Difference("pairs", "Of a pair of bounds the lower ones come first.", replacing(r"^ +(?:- )?(?=(?:min|max)/\d)")),
    Difference("empty", "A parameter with an empty value is shown.", dropping(r"^    no-capacity-checks: *$")),
    Difference(
        "refused",
        "What was refused for the cluster is not there.",
        replacing(r"^( +(?:lvm reserved volumes|vcpu-ratio): ).*", r"\1"),
    ),
    Difference(
        "os settings",
        "What was refused for an operating system is not there.",
        dropping(r"^  noop: *$|^    fake: *$|^      migration_mode: live"),
    ),
    Difference(
        "unusable", "On which nodes a directory cannot be used is told.", dropping("no disks can be made there on")
    ),
    Difference(
        "netmask",
        "An address that is not up gets its netmask when it comes.",
        dropping("Could not change the master IP netmask"),
    ),
    Difference(
        "every group",
        "The network of instance communication is connected to all groups.",
        dropping(r"^(?:Submitted jobs|Waiting for job) "),
    ),
    Difference("images", "Which nodes do not have an image is told.", dropping("_image: node .* cannot use it: ")),
    Difference("helper", "A helper that is taken away needs no advice.", dropping("you specified a drbd user helper")),
    Difference(
        "copies",
        "Of a node that does not get the cluster's files it is told once, and that it is tried again.",
        dropping(r"Copy of file |does not get it for now|the SSH keys of node"),
    ),
    Difference(
        "rapi",
        "A certificate that is not of the cluster's own authority stays, which is said.",
        dropping("The Remote API's certificate is not"),
    ),
    Difference("joined", "That a node is part of a cluster is told without a kind.", dropping("^error type: ")),
    Difference(
        "definitions",
        "What is wrong with a definition of an operating system is said in our own words.",
        replacing(r"(?:(?<=invalid) - .*(?= \(path: )|(?<=\)): (?:API version mismatch|File |script ).*)"),
    ),
)

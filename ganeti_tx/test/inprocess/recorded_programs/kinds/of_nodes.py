"""What differs of nodes, node groups and networks."""

import re

from attrs import evolve

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, replacing

OF_NODES = (
    Difference(
        "pool",
        "Nothing is said of too few master candidates while a node is changed: the pool is as large as the cluster then.",
        dropping(r"Configuration data is not consistent: Not enough master candidates"),
    ),
    Difference(
        "parameters",
        "Changed parameters are told, too.",
        dropping(r"^ - (?:ndparams|hv_state|disk_state)/|^Modified node "),
    ),
    Difference(
        "ssh",
        "What is done to a machine that joins is said by the program that does it, in its words; its SSH daemon stays.",
        lambda printed: evolve(dropping("Restarting OpenBSD Secure Shell server")(printed), err=""),
    ),
    Difference(
        "checked", "Whether a node can be added is asked by a job of its own before.", dropping(r"^ *\d+ NODE_ADD\(")
    ),
    Difference(
        "leaving",
        "A node that is removed is told to leave, which is said, and which keys its disk may still have.",
        dropping("Stopping the node daemon and|Whoever has the disk of node"),
    ),
    Difference(
        "primary", "Which instances an offline node has is told.", dropping("WARNING: Node .* is primary node of")
    ),
    Difference(
        "offline",
        "A node that is marked offline is not asked, which is said.",
        dropping("is marked offline; .* was not sent|Communication failure to node|while leaving the cluster"),
    ),
    Difference(
        "meaning",
        "What it means for a node that it could not be told something is said.",
        replacing(
            r"(?:Node failed to demote itself|node \S+ may keep copies of the configuration and of jobs)", "UNTOLD"
        ),
    ),
    Difference("powering", "That a node's power was switched is told.", dropping("Node .* has been powered")),
    Difference(
        "quoted",
        "Names in a question stand apart without quotes, so that no line ends within a name.",
        lambda printed: evolve(printed, out=re.sub(", ?", " ", printed.out.replace("'", ""))),
    ),
    Difference(
        "log",
        "Where the reason of a failure is, is said.",
        replacing("; the log of the node daemon there has the reason"),
    ),
    Difference("unreachable", "A node that cannot be asked is told.", dropping(r"WARNING: cannot reach node ")),
    Difference(
        "default", "Which group is the cluster's default now is told.", dropping("is the cluster's default group now")
    ),
    Difference(
        "gateway", "That a network does not have its gateway is told.", dropping("does not contain the gateway")
    ),
)

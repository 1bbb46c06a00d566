"""What differs of jobs, of the rules for them, and of locks."""

import re

from attrs import evolve

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, in_order, replacing
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed

OF_JOBS = (
    Difference(
        "queued",
        "A job that may not begin yet is queued; one that waits has begun.",
        lambda printed: evolve(printed, out=re.sub(r"\b(?:waiting|queued)\b", "PENDING", printed.out)),
    ),
    Difference(
        "begun",
        "A job that may not begin yet has no times of its own.",
        dropping("^ +(?:Processing (?:start|end)|Total processing time|Execution start):"),
    ),
    Difference(
        "ended",
        "Of a job that has ended it is said that it has.",
        replacing(r"Job \d+ (?:not found in queue|is finished.*)", "NOT"),
    ),
    Difference(
        "cancelled",
        "What becomes of a job that is to be cancelled is said with its number.",
        replacing(
            r"^(?:Job \d+ canceled|Job successfully cancelled|Job \d+ was killed|SIGKILL send to the process)$",
            "CANCELLED",
        ),
    ),
    Difference(
        "killed",
        "A job that was killed counts as canceled, and its messages are kept.",
        replacing(r"\b(?:canceled|error   ?|error)(?= +TEST_DELAY|$)", "KILLED"),
    ),
    Difference(
        "input",
        "Of an opcode the fields are shown that it was submitted with, and steps among its messages.",
        dropping(r"^ {8}.*|^      Result:.*|\bOpCodes$|OP_CLUSTER_POST_INIT'"),
    ),
    Difference("queue", "The tests of the job queue are our own.", lambda printed: Printed(printed.status, "", "")),
    Difference(
        "locks",
        "Locks are shown that are held or waited for, no lines for levels; a job that waits on the master holds none of a node.",
        dropping("^(?:cluster|node)/"),
    ),
    Difference("asked", "Rules stand in the order in which they are asked.", in_order),
    Difference(
        "rules",
        "Rules have the reason of whoever added them, and a comparison as it was typed.",
        replacing(r"\[\['(?:gnt:|luxid).*$|(?<='=)=(?=')"),
    ),
)

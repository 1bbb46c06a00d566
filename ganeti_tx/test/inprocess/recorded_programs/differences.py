"""What ours print, or do, differently on purpose, each with the reason, by kind."""

from collections.abc import Sequence

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference
from ganeti_tx.test.inprocess.recorded_programs.kinds.in_general import IN_GENERAL
from ganeti_tx.test.inprocess.recorded_programs.kinds.of_cluster import OF_CLUSTER
from ganeti_tx.test.inprocess.recorded_programs.kinds.of_instances import OF_INSTANCES
from ganeti_tx.test.inprocess.recorded_programs.kinds.of_jobs import OF_JOBS
from ganeti_tx.test.inprocess.recorded_programs.kinds.of_nodes import OF_NODES
from ganeti_tx.test.inprocess.recorded_programs.kinds.of_verify import OF_VERIFY
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed

DIFFERENCES: Sequence[Difference] = (*IN_GENERAL, *OF_NODES, *OF_JOBS, *OF_INSTANCES, *OF_CLUSTER, *OF_VERIFY)
BY_KEY = {each.key: each for each in DIFFERENCES}


def without(keys: Sequence[str], printed: Printed) -> Printed:
    """What was printed, without all these kinds."""
    for key in keys:
        printed = BY_KEY[key].without(printed)
    return printed

"""All that is verified of nodes, in the order in which it is told.

What comes with a driver (volume groups, mirrors) adds its own file with SUBJECTS here, which ask nothing where the cluster
does not have it.
"""

from ganeti_tx.logic.verify import (
    exclusive,
    formats,
    hypervisors,
    kept,
    membership,
    mirrors,
    named_pools,
    networking,
    oses,
    pools,
    programs,
    providers,
    tags,
    telling,
    volume_group,
)

SUBJECTS = (
    *programs.SUBJECTS,
    *membership.SUBJECTS,
    *networking.SUBJECTS,
    *pools.SUBJECTS,
    *named_pools.SUBJECTS,
    *volume_group.SUBJECTS,
    *exclusive.SUBJECTS,
    *mirrors.SUBJECTS,
    *providers.SUBJECTS,
    *hypervisors.SUBJECTS,
    *kept.SUBJECTS,
    *telling.SUBJECTS,
    *formats.SUBJECTS,
    *oses.SUBJECTS,
    *tags.SUBJECTS,
)

"""What one trial process runs: a test package, or one module of the tests that bring up daemons and instances, or some that are
quick (names with spaces between).

These modules mostly wait, or compute for long; what the tests of one share is a cluster that lives as long as its process: so one
is not split.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

TESTS = Path(__file__).parent
#: The packages whose modules are units: those that mostly wait for daemons, and that compute.
WAITING, COMPUTING = ("real", "nodes"), ("inprocess",)
#: So many of the second sort go together, as a process computes for a second until it has imported the program.
TOGETHER = 4
#: The units that take longest are begun first, so that in the end not all wait for one of them. Nodes share what they have
#: installed: the first of their units makes it, for which others of them would only wait, so that they are begun later.
LONGEST = (
    "lab",
    "nodes.test_users",
    "real.test_operations",
    "inprocess.test_each_call",
    "real.test_bare_machine",
    "inprocess.chaos",
    "inprocess.test_disks_each_call",
    "inprocess.test_moves_each_call",
    "inprocess.test_backup_each_call",
    "nodes.test_cluster",
    "inprocess.test_any_node",
    "nodes.test_merge",
    "inprocess.test_external_storage",
    "inprocess.test_operations",
    "nodes.test_keys",
    "upgrade",
    "inprocess.recorded_programs",
    "nodes.test_ipv6",
    "node",
    "rapi",
    "inprocess.test_recorded_instances",
    "nodes.test_upgrade",
    "inprocess.test_modify_each_call",
    "real.test_upgrade",
    "cli",
    "real.test_renew_crypto",
    "real.test_master_failover",
    "logic",
    "real.test_rapi_hostile",
    "real.test_devcluster",
    "test_layers",
    "real.test_full_disk",
    "real.test_crashes",
)


def all_units() -> list[str]:
    """Everything, each test in one unit: the longest, what tests the parts, the other long ones, the rest.

    Parts are tested early, as a slow machine may not come to all. Among the rest are those that wait between those that compute.
    """
    first, *long = (f"{__package__}.{name}" for name in LONGEST)
    waiting, quick, packages = (
        [name for name in names if name not in (first, *long)]
        for names in (
            chain(*(unit_names(TESTS / name) for name in WAITING)),
            chain(*(unit_names(TESTS / name) for name in COMPUTING)),
            unit_names(TESTS, leave_out=(*WAITING, *COMPUTING)),
        )
    )
    together = [" ".join(quick[first : first + TOGETHER]) for first in range(0, len(quick), TOGETHER)]
    return [first, *packages, *long, *mixed(waiting, together)]


def mixed(*lists: Sequence[str]) -> list[str]:
    """All together, each in its order and spread over the whole, so that processors have something to do at any time."""
    places = [((index + 1) / len(each), name) for each in lists for index, name in enumerate(each)]
    return [name for _, name in sorted(places, key=lambda place: place[0])]


def unit_names(directory: Path, leave_out: Sequence[str] = ()) -> Iterator[str]:
    """The dotted names of the test modules and packages in a directory."""
    for path in sorted(directory.iterdir()):
        if path.name in leave_out:
            continue
        if path.match("test_*.py") or any(path.rglob("test_*.py")):
            yield ".".join(path.relative_to(TESTS.parents[1]).with_suffix("").parts)


def units(names: Sequence[str]) -> list[str]:
    """What the words after bin/test mean: the units in a package of that name, else the tests so named; without any, all."""
    everything = all_units()
    found = [[unit for unit in everything if unit.startswith(f"{name}.")] or [name] for name in names]
    return list(dict.fromkeys(chain(*found))) if names else everything

"""What one trial process runs: a test package, or one module of the tests that bring up daemons and instances.

These modules mostly wait, or compute for long; what the tests of one share is a cluster that lives as long as its process: so one
is not split.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

TESTS = Path(__file__).parent
#: The packages whose modules are units.
SPLIT = ("real", "nodes", "inprocess")
#: The units that take longest are begun first, so that in the end not all wait for one of them.
LONGEST = (
    "lab",
    "real.test_operations",
    "real.test_bare_machine",
    "inprocess.test_each_call",
    "inprocess.chaos",
    "inprocess.test_disks_each_call",
    "inprocess.test_moves_each_call",
    "inprocess.test_backup_each_call",
    "inprocess.test_any_node",
    "inprocess.test_external_storage",
    "inprocess.test_operations",
    "nodes.test_users",
    "nodes.test_cluster",
    "nodes.test_keys",
    "nodes.test_merge",
    "nodes.test_ipv6",
    "nodes.test_upgrade",
    "inprocess.test_modify_each_call",
    "real.test_upgrade",
    "real.test_renew_crypto",
    "real.test_master_failover",
    "real.test_rapi_hostile",
    "real.test_devcluster",
    "real.test_full_disk",
    "real.test_crashes",
)


def all_units() -> list[str]:
    """Everything, each test in one unit; the long ones first, then those that wait."""
    long = [f"{__package__}.{name}" for name in LONGEST]
    rest = [*chain(*(unit_names(TESTS / name) for name in SPLIT)), *unit_names(TESTS, leave_out=SPLIT)]
    return [*long, *(name for name in rest if name not in long)]


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

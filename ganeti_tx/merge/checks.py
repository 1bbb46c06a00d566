"""What is found out before anything is done, all of it at once."""

import time
from collections.abc import Sequence

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.config.merging.choices import Choices
from ganeti_tx.config.merging.ports import stopped
from ganeti_tx.config.merging.united import judged, united
from ganeti_tx.errors import GanetiError, ResolverError
from ganeti_tx.merge.other import Other
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.runtime.names import resolve_now
from ganeti_tx.runtime.paths import Paths

#: What the configuration daemon takes at once, with some room.
MAX_JOINING = 7 * 1024 * 1024


def check_queues(own_is_drained: bool, others: Sequence[Other]) -> None:
    """Jobs can be done. @raise BootstrapError: an administrator does not want it."""
    problems = Problems()
    problems.unless(not own_is_drained, "this cluster's job queue is drained; 'gnt-cluster queue undrain' opens it")
    for other in others:
        problems.unless(not other.told.was_drained, f"the job queue of {other.name} is drained; open it there")
    problems.stop_if_any()


def check_nodes(paths: Paths, others: Sequence[Other]) -> None:
    """Every node can be reached by its name and has this version. @raise BootstrapError: every problem."""
    problems = Problems()
    for other in others:
        for node in other.nodes:
            try:
                _, address = resolve_now(paths, node.name)
            except ResolverError as error:
                problems.add(f"node {node.name} does not resolve here: {error}")
                continue
            problems.unless(
                address == node.primary_ip,
                f"node {node.name} is {node.primary_ip} there, but resolves to {address} here",
            )
        try:
            for name, version in other.versions().items():
                problems.unless(version == __version__, f"node {name} has version {version}, this node {__version__}")
        except GanetiError as error:
            problems.add(str(error))
        size = len(encode(other.config))
        problems.unless(
            size <= MAX_JOINING,
            f"the configuration of {other.name} has {size} bytes; at most {MAX_JOINING} can be merged",
        )
    problems.stop_if_any()


def check_configurations(own: ConfigData, others: Sequence[Other], choices: Choices, *, will_stop: bool) -> list[str]:
    """Gives in what the clusters differ. @param will_stop: whether what runs there is going to be stopped.

    @raise BootstrapError: everything that stands in the way.
    """
    obstacles, warnings, now = list[str](), list[str](), time.time()
    for other in others:
        theirs = stopped(other.config) if will_stop else other.config
        found = judged(own, theirs, choices, now)
        obstacles.extend(f"{other.name}: {each}" for each in found.obstacles)
        warnings.extend(f"{other.name}: {each}" for each in found.warnings)
        if not found.obstacles:
            own = united(own, theirs, choices, now)
    if obstacles:
        raise BootstrapError("the clusters cannot be merged:", *obstacles)
    return warnings

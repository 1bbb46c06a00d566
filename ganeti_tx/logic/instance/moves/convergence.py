"""How much of a running guest's memory is there, and whether there will ever be so little left that it can be sent at once."""

from ganeti_tx.model.migration import MigrationProgress, MigrationState

#: A guest that writes faster than is sent is known as such after so many passes; one of which each pass leaves less has less than
#: a hundredth left after many, even where a pass leaves four fifths of what the one before has left.
FEW_PASSES, MANY_PASSES = 3, 20
#: So many looks in a row must find it so, some ten seconds: short passes are soon many, and a guest may soon write less.
PATIENCE = 20
ADVICE = (
    "it goes on until 'gnt-job cancel', after which the instance runs where it was; --non-live ends, and so may a longer"
    " migration_downtime, more migration_bandwidth, or auto-converge or postcopy-ram in migration_caps"
)


def is_endless(progress: MigrationProgress) -> bool:
    """Whether it goes on as long as the guest does what it does now."""
    if progress.status is not MigrationState.ACTIVE or progress.passes < FEW_PASSES:
        return False
    return progress.passes >= MANY_PASSES or 0 < progress.speed <= progress.dirty_rate


def how_far(progress: MigrationProgress) -> str:
    """For people; empty when nothing is known."""
    if not progress.total_ram:
        return ""
    left = progress.remaining_ram
    there = (progress.transferred_ram or 0) if left is None else progress.total_ram - left
    percent = min(100.0, 100 * there / progress.total_ram)
    again = "" if left is None or progress.passes < 2 else f", {mib(left)} left in pass {progress.passes}"
    return f"memory transfer progress: {percent:.2f} %{again}"


def why_endless(progress: MigrationProgress) -> str:
    """Of one that is, with what can be done."""
    return (
        f"the transfer of memory does not converge: after {progress.passes} passes the guest still writes to"
        f" {mib(progress.dirty_rate)} a second, and {mib(progress.speed)} a second are sent; {ADVICE}"
    )


def mib(amount: int) -> str:
    """So many bytes."""
    return f"{amount / (1 << 20):.1f} MiB"

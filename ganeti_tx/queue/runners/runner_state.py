"""What a job process is doing, as luxid sees it: a table of states."""

from collections.abc import Mapping
from enum import Enum


class RunnerState(Enum):
    """One process; only where it says so there is a connection to it."""

    NEW = "just heard of"
    IDLE = "connected, waits for somebody who needs it"
    RESERVED = "connected, somebody's, who has not given it a job yet"
    BUSY = "connected, has a job"
    AWAY = "has a job and no connection; it may come back"
    LEAVING = "connected, told to end"
    GONE = "dead, or without a job and a connection, so that it ends by itself"


FOLLOWING: Mapping[RunnerState, frozenset[RunnerState]] = {
    RunnerState.NEW: frozenset({RunnerState.IDLE, RunnerState.BUSY, RunnerState.AWAY}),
    RunnerState.IDLE: frozenset({RunnerState.RESERVED, RunnerState.LEAVING, RunnerState.GONE}),
    RunnerState.RESERVED: frozenset({RunnerState.BUSY, RunnerState.IDLE, RunnerState.GONE}),
    RunnerState.BUSY: frozenset({RunnerState.IDLE, RunnerState.AWAY, RunnerState.GONE}),
    RunnerState.AWAY: frozenset({RunnerState.BUSY, RunnerState.IDLE, RunnerState.GONE}),
    RunnerState.LEAVING: frozenset({RunnerState.GONE}),
    RunnerState.GONE: frozenset(),
}

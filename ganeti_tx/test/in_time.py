"""Leaves tests out for which a run of all tests has no time: on a slow machine it would otherwise end without a word of the others.

`run_all` tells the processes that it starts until when tests may begin.
"""

import os
import time

from twisted.trial.unittest import SynchronousTestCase

#: Seconds of the steady clock, which is one for all processes, after which no test is begun.
BEGIN_VARIABLE = "GANETI_TEST_BEGIN_UNTIL"
LEFT_OUT = "left out: this machine is too slow for all tests in the time that they may take"


def too_late() -> bool:
    """Whether no test may begin any more."""
    return time.monotonic() > float(os.environ.get(BEGIN_VARIABLE) or "inf")


def leave_out_what_is_late() -> None:
    """Have trial skip, with this reason, what it comes to when it is too late."""
    reason = SynchronousTestCase.getSkip

    def skip(test: SynchronousTestCase) -> tuple[bool, str | None]:
        """See `SynchronousTestCase.getSkip`."""
        return (True, LEFT_OUT) if too_late() else reason(test)

    SynchronousTestCase.getSkip = skip  # type: ignore[assignment, method-assign]

"""What a program that does one step for another one says when it fails: each problem is a line on standard error."""

import sys
from collections.abc import Callable

from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.runtime.files_errors import reason


def status_of(work: Callable[[], bool]) -> int:
    """Do the work, which says whether it went well; the exit status."""
    try:
        return ExitCode.SUCCESS if work() else ExitCode.FAILURE
    except GanetiError as error:
        print(*str(error).splitlines(), sep="\n", file=sys.stderr)
    except OSError as error:
        print(reason(error), file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return ExitCode.FAILURE

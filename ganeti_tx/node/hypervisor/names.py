"""Which instance names may become file names and program arguments, and errors that have them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ganeti_tx.errors import HypervisorError

# Neither a slash nor a comma, and no leading dot or dash: it is part of paths, of QEMU options and of argument lists.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")


def checked_name(name: str) -> str:
    """The name itself. @raise HypervisorError: it is no instance name."""
    if _NAME.fullmatch(name) is None:
        raise HypervisorError(
            f"not an instance name: {name!r}; it starts with a letter or digit and goes on with those, '.', '_' or '-'"
        )
    return name


@contextmanager
def naming(instance_name: str) -> Iterator[None]:
    """Let errors from below tell of which instance they are."""
    try:
        yield
    except HypervisorError as error:
        if instance_name in str(error):
            raise
        raise HypervisorError(f"instance {instance_name}: {error}") from error

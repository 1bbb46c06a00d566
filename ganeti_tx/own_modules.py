"""Programs of this package that are started by the names of their modules."""

import sys
from collections.abc import Sequence


def module_argv(module: str, *arguments: str) -> list[str]:
    """The command. Python looks for no module in the directory that it is started in, which may be anybody's."""
    return [sys.executable, "-P", "-m", module, *arguments]


def runs_module(argv: Sequence[str], module: str) -> bool:
    """Whether a command is one of `module_argv`, of any Python that is named by its whole path."""
    options = module_argv(module)[1:]
    return argv[0].startswith("/") and list(argv[1 : 1 + len(options)]) == options

"""The words of `machine_version`: a type of machine, and what QEMU's option -machine takes beside it."""

import re

from ganeti_tx.errors import HypervisorError

#: A type as QEMU names them; no comma, behind which there could be a kernel, or any other file of the node.
_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_NAMED = "type="


def checked_type(name: str) -> str:
    """The name itself. @raise HypervisorError: it is no name of a type alone."""
    if _TYPE.fullmatch(name) is None:
        raise HypervisorError(
            f"not a type of machine: {name!r:.100}; it starts with a letter or digit and goes on with those, '.', '_' or '-'"
        )
    return name


def beside_type(words: str) -> str:
    """What an administrator has QEMU told beside the type."""
    first, *rest = words.split(",")
    options = [*([first] if "=" in first else []), *rest]
    return ",".join(word for word in options if not word.startswith(_NAMED))


def of_type(name: str, words: str) -> str:
    """The words with that type instead of theirs, and all else of them."""
    return ",".join(filter(None, (name, beside_type(words))))

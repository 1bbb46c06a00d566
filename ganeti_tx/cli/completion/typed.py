"""How far a command line has come: what the words before the one that is being typed were."""

from collections.abc import Sequence
from typing import NamedTuple

from ganeti_tx.cli.options import Command, Option


class Typed(NamedTuple):
    """The arguments so far, the option that wants the next word for its value, and whether options may still come."""

    arguments: tuple[str, ...]
    wants_value: Option | None
    options_over: bool


def read(command: Command, options: Sequence[Option], words: Sequence[str], *, interspersed: bool = False) -> Typed:
    """What the words mean. @param interspersed: whether options may come behind arguments."""
    flags = flags_of(options)
    arguments: list[str] = []
    pending: Option | None = None
    over = False
    for word in words:
        if pending is not None:
            pending = None
        elif over or word in ("", "-") or not word.startswith("-"):
            arguments.append(word)
            over = over or not interspersed
        elif word == "--":
            over = True
        else:
            pending = option_wanting(flags, word)
    return Typed(tuple(arguments), pending, over)


def flags_of(options: Sequence[Option]) -> dict[str, Option]:
    """By every spelling."""
    return {flag: option for option in options for flag in (*option.flags, *option.old_flags)}


def option_wanting(flags: dict[str, Option], word: str) -> Option | None:
    """The option of a word that has its value in the next one."""
    if word.startswith("--"):
        option = None if "=" in word else long_option(flags, word)
        return option if option is not None and option.takes is not None else None
    option, value = short_option(flags, word)
    return option if option is not None and not value else None


def long_option(flags: dict[str, Option], word: str) -> Option | None:
    """By its whole name, or by the beginning of one only."""
    if word in flags:
        return flags[word]
    meant = {id(option): option for flag, option in flags.items() if flag.startswith(word)}
    return next(iter(meant.values())) if len(meant) == 1 else None


def short_option(flags: dict[str, Option], word: str) -> tuple[Option | None, str]:
    """Of letters behind one dash the option that takes a value, and what stands behind it."""
    for at, letter in enumerate(word[1:], 2):
        option = flags.get(f"-{letter}")
        if option is None:
            break
        if option.takes is not None:
            return option, word[at:]
    return None, ""

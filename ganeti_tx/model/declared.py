"""Words that are declared in a folder, a file each: a new file there is a new word, and no table lists it."""

from collections.abc import Iterable
from enum import EnumType
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class Words(EnumType):
        """The members are known when the program runs only."""

        def __getattr__(cls, name: str) -> Any: ...

else:
    Words = EnumType


def members_in(folder: str) -> Iterable[tuple[str, str]]:
    """Member and word of each module in a folder beside this file, sorted: `xen_hvm.py` is XEN_HVM, "xen-hvm"."""
    names = sorted(module.name for module in iter_modules([str(Path(__file__).with_name(folder))]))
    return [(name.upper(), word_of(name)) for name in names]


def word_of(module: str) -> str:
    """The word that a module declares, by its name."""
    return module.rpartition(".")[2].replace("_", "-")


def module_of(word: str) -> str:
    """The name of the module that declares a word."""
    return word.replace("-", "_")

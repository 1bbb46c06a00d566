"""Providers of external storage: directories with scripts."""

from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.script_directories import Unusable, candidates, check_script, described_names, text_lines

REQUIRED = ("attach", "create", "detach", "grow", "remove", "setinfo", "verify")
OPTIONAL = ("close", "open", "snapshot")
#: Which parameters name storage that is there already.
IDENTITY = "identity.list"


@frozen
class Provider:
    """A usable one: where it is, its own parameters, each with what it means, and the optional scripts that it has.

    @ivar identity: the parameters that together name storage which is there already, so that no two disks may have the same.
    """

    name: str
    path: Path
    parameters: tuple[tuple[str, str], ...]
    optional: frozenset[str]
    identity: tuple[str, ...] = ()

    def has(self, script: str) -> bool:
        """Whether it has a script."""
        return script in REQUIRED or script in self.optional

    def check_parameters(self, given: Mapping[str, Any]) -> None:
        """@raise BlockDeviceError: there are names that it has no parameter for."""
        known = [name for name, _help in self.parameters]
        if unknown := sorted(given.keys() - set(known)):
            allowed = ", ".join(known) or "none"
            raise BlockDeviceError(f"provider {self.name!r} has no parameter {unknown[0]!r}; allowed: {allowed}")


@frozen
class Found:
    """What is in a directory that should be a provider; `fault`: why it cannot be used."""

    name: str
    path: Path
    provider: Provider | None = None
    fault: str = ""


@frozen
class Providers:
    """Those of this node, by the directories of the search path, where the first of a name wins."""

    files: IFiles
    search_path: tuple[Path, ...]

    def find(self, name: str) -> Provider:
        """@raise BlockDeviceError: there is none of that name, or it cannot be used."""
        found = next((each for each in self.all() if each.name == name), None)
        if found is None:
            searched = ", ".join(map(str, self.search_path))
            raise BlockDeviceError(f"provider {name!r} not found on this node; searched: {searched}")
        if found.provider is None:
            raise BlockDeviceError(f"provider {name!r} in {found.path} cannot be used: {found.fault}")
        return found.provider

    def all(self) -> Iterator[Found]:
        """All that are there, also those that cannot be used or that another one hides."""
        for path in candidates(self.files, self.search_path):
            try:
                yield Found(path.name, path, read_provider(self.files, path))
            except Unusable as error:
                yield Found(path.name, path, fault=str(error))


def read_provider(files: IFiles, path: Path) -> Provider:
    """The provider in a directory. @raise Unusable: the first thing that is wrong with it."""
    optional = frozenset(script for script in OPTIONAL if files.exists(path / script))
    for script in (*REQUIRED, *sorted(optional)):
        check_script(files, path / script)
    parameters = described_names(files, path / "parameters.list")
    return Provider(path.name, path, parameters, optional, read_identity(files, path / IDENTITY, dict(parameters)))


def read_identity(files: IFiles, path: Path, known: Container[str]) -> tuple[str, ...]:
    """The parameters in a file that need not be there, one a line. @raise Unusable: it cannot be read, or names another one."""
    names = tuple(text_lines(files, path)) if files.exists(path) else ()
    if unknown := [name for name in names if name not in known]:
        raise Unusable(f"file {path.name} names {unknown[0]!r:.100}, which is no parameter in parameters.list")
    return names

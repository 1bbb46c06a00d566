"""Which OS definitions this node has."""

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.node.os.definition import OsDefinition, UnusableOs, read_definition, split_name
from ganeti_tx.rpc.calls.os import OsReport
from ganeti_tx.runtime.files import IFiles


@frozen
class OsCatalogue:
    """The definitions in the directories of the search path, where the first of a name wins."""

    files: IFiles
    search_path: tuple[Path, ...]

    def find(self, full_name: str) -> OsDefinition:
        """The definition of "NAME" or "NAME+VARIANT"; the variant is not checked.

        @raise OpPrereqError: there is none, or it is not usable.
        """
        name, _variant = split_name(full_name)
        path = next((each for each in self._candidates() if each.name == name), None)
        if path is None:
            searched = ", ".join(map(str, self.search_path))
            raise OpPrereqError(f"OS {name!r} not found on this node; searched: {searched}", ECode.NOENT)
        try:
            return read_definition(self.files, path)
        except UnusableOs as error:
            raise OpPrereqError(f"OS {name!r} in {path} cannot be used: {error}", ECode.ENVIRON)

    def has(self, full_name: str) -> bool:
        """Whether there is a directory for this OS, usable or not."""
        name, _variant = split_name(full_name)
        return any(each.name == name for each in self._candidates())

    def diagnose(self) -> list[OsReport]:
        """Every definition that is there, also those that cannot be used or that another one hides."""
        return [self._report(path) for path in self._candidates()]

    def _report(self, path: Path) -> OsReport:
        try:
            found = read_definition(self.files, path)
        except UnusableOs as error:
            return OsReport(path.name, str(path), False, str(error), [], [], [], True)
        return OsReport(
            name=found.name,
            path=str(path),
            valid=True,
            diagnose="",
            variants=list(found.variants),
            parameters=list(found.parameters),
            api_versions=list(found.api_versions),
            trusted=found.trusted,
            hypervisors=None if found.hypervisors is None else list(found.hypervisors),
        )

    def _candidates(self) -> Iterator[Path]:
        for directory in self.search_path:
            try:
                names = self.files.listdir(directory)
            except OSError:  # not every directory of the path need be there
                continue
            yield from (directory / name for name in names if self._is_directory(directory / name))

    def _is_directory(self, path: Path) -> bool:
        try:
            return self.files.stat(path).is_directory
        except OSError:  # a dangling link
            return False

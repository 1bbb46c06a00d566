"""Which OS definitions this node has."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.node.os.definition import OsDefinition, read_definition, split_name
from ganeti_tx.rpc.calls.os import OsReport
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.script_directories import Unusable, candidates


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
        path = next((each for each in candidates(self.files, self.search_path) if each.name == name), None)
        if path is None:
            searched = ", ".join(map(str, self.search_path))
            raise OpPrereqError(f"Directory for OS {name} not found in search path: {searched}", ECode.NOENT)
        try:
            return read_definition(self.files, path)
        except Unusable as error:
            raise OpPrereqError(f"OS {name!r} in {path} cannot be used: {error}", ECode.ENVIRON)

    def has(self, full_name: str) -> bool:
        """Whether there is a directory for this OS, usable or not."""
        name, _variant = split_name(full_name)
        return any(each.name == name for each in candidates(self.files, self.search_path))

    def diagnose(self) -> list[OsReport]:
        """Every definition that is there, also those that cannot be used or that another one hides."""
        return [self._report(path) for path in candidates(self.files, self.search_path)]

    def _report(self, path: Path) -> OsReport:
        try:
            found = read_definition(self.files, path)
        except Unusable as error:
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

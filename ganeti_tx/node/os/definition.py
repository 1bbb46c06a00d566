"""An OS definition: a directory with scripts that install and describe a guest system."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.node.os.api_versions import PARAMETERS_SINCE, VARIANTS_SINCE
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.script_directories import Unusable, check_script, described_names, text_lines

#: The versions of the OS interface that this program speaks.
API_VERSIONS = (10, 15, 20)
#: Scripts without which only what they do is refused (design-2.0, "The Scripts"); one set each that comes together.
OPTIONAL_SCRIPTS = (("export", "import"), ("rename",))

#: What is done to an instance by an optional script.
DONE_BY = {"export": "exported", "import": "imported", "rename": "renamed"}

#: What there is instead, where no node may run a script.
INSTEAD = {
    "create": "a machine does that is started from the cluster's install image; 'gnt-cluster modify --install-image' names one",
    "export": "'gnt-instance modify -o' gives an instance another OS without installing that",
    "import": "another OS can be named in the export's config.ini ('os = ...')",
    "rename": "what is installed keeps its name",
    "verify": "the install image may judge the parameters",
}


@frozen
class OsDefinition:
    """A usable definition; `api_version` is the highest that both sides speak, `api_versions` all it says it speaks."""

    name: str
    path: Path
    api_version: int
    api_versions: tuple[int, ...]
    variants: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()  # name and help
    trusted: bool = True  # its scripts may run on the node itself
    missing: frozenset[str] = frozenset()  # of the optional scripts
    hypervisors: tuple[str, ...] | None = None  # that it can be installed under; None: all

    def script(self, name: str) -> Path:
        """Where one of its scripts is, for the node to run.

        @raise OpPrereqError: it has no such script, or the node may run none of its, so it cannot do this.
        """
        if not self.trusted:
            told = f"OS {self.name!r} has only create_untrusted, so no node runs its {name} script itself"
            raise OpPrereqError(f"{told}; {INSTEAD[name]}", ECode.ENVIRON)
        if name in self.missing:
            raise _wrong(f"OS {self.name!r} has no {name} script, so its instances cannot be {DONE_BY[name]}")
        return self.path / name

    def check_variant(self, variant: str, force: bool = False) -> None:
        """@raise OpPrereqError: a variant is missing, unknown (unless `force`) or there are none."""
        if not self.variants:
            if variant:
                raise _wrong(f"OS {self.name!r} does not support variants ({variant!r} passed)")
        elif not force and variant not in self.variants:
            support = f"OS {self.name!r} does not support variant {variant!r}"
            told = support if variant else f"OS name {self.name!r} must include a variant"
            raise _wrong(f"{told}; allowed: {', '.join(self.variants)}")

    def check_hypervisor(self, hypervisor: str) -> None:
        """@raise OpPrereqError: it cannot be installed under this hypervisor."""
        if self.hypervisors is not None and hypervisor not in self.hypervisors:
            allowed = ", ".join(self.hypervisors) or "none"
            raise _wrong(f"OS {self.name!r} cannot be installed under hypervisor {hypervisor}; allowed: {allowed}")

    def check_parameters(self, names: list[str]) -> None:
        """@raise OpPrereqError: there are names that the OS has no parameter for."""
        known = {name for name, _help in self.parameters}
        if unknown := sorted(name for name in names if name not in known):
            allowed = ", ".join(sorted(known)) or "none"
            told = f"The following parameters are not supported by the OS {self.name}: {', '.join(unknown)}"
            raise _wrong(f"{told}; allowed: {allowed}")


def split_name(full_name: str) -> tuple[str, str]:
    """Name and variant of "NAME" or "NAME+VARIANT"; the variant may be empty."""
    name, _plus, variant = full_name.partition("+")
    return name, variant


def read_definition(files: IFiles, path: Path) -> OsDefinition:
    """The definition in a directory. @raise Unusable: the first thing that is wrong with it."""
    versions = _api_versions(files, path)
    common = set(versions).intersection(API_VERSIONS)
    if not common:
        raise Unusable(f"API version mismatch: it has {_list(versions)}, this node has {_list(API_VERSIONS)}")
    api_version = max(common)
    trusted = files.exists(path / "create")
    creating = "create" if trusted or not files.exists(path / "create_untrusted") else "create_untrusted"
    missing = _missing_scripts(files, path)
    verifying = ["verify"] if api_version >= PARAMETERS_SINCE else []
    optional = [script for together in OPTIONAL_SCRIPTS for script in together if script not in missing]
    for script in (creating, *optional, *verifying):
        check_script(files, path / script)
    return OsDefinition(
        name=path.name,
        path=path,
        api_version=api_version,
        api_versions=versions,
        variants=_variants(files, path) if api_version >= VARIANTS_SINCE else (),
        parameters=described_names(files, path / "parameters.list") if api_version >= PARAMETERS_SINCE else (),
        trusted=trusted,
        missing=missing,
        hypervisors=_hypervisors(files, path),
    )


def _missing_scripts(files: IFiles, path: Path) -> frozenset[str]:
    """@raise Unusable: of scripts that come together some are there and some are not."""
    found: set[str] = set()
    for together in OPTIONAL_SCRIPTS:
        missing = [script for script in together if not files.exists(path / script)]
        if missing and len(missing) < len(together):
            raise Unusable(f"script {missing[0]} is missing; {' and '.join(together)} come together")
        found.update(missing)
    return frozenset(found)


def _api_versions(files: IFiles, path: Path) -> tuple[int, ...]:
    lines = text_lines(files, path / "ganeti_api_version")
    try:
        return tuple(int(line) for line in lines)
    except ValueError:
        raise Unusable(f"file ganeti_api_version must have one number a line, not {' '.join(lines)[:80]!r}")


def _hypervisors(files: IFiles, path: Path) -> tuple[str, ...] | None:
    """What the file "hypervisors" limits it to, one a line (design-2.0, "Other declarative style features")."""
    if not files.exists(path / "hypervisors"):
        return None
    return tuple(line for line in text_lines(files, path / "hypervisors") if not line.startswith("#"))


def _variants(files: IFiles, path: Path) -> tuple[str, ...]:
    if not files.exists(path / "variants.list"):
        return ()
    return tuple(line for line in text_lines(files, path / "variants.list") if not line.startswith("#"))


def _list(versions: tuple[int, ...]) -> str:
    return ", ".join(map(str, versions)) or "none"


def _wrong(message: str) -> OpPrereqError:
    return OpPrereqError(message, ECode.INVAL)

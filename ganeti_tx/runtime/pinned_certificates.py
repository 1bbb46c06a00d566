"""By which certificates this node knows the others when it calls them.

The authority's signature is not enough: every node that ever was a master candidate had its key, and could sign itself a
certificate for another node's address. Which certificate each node has is in simple configuration.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attrs import define, field

from ganeti_tx.model import node_files
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths

MAX_SSCONF = 16 * 1024 * 1024
#: Seconds for which a node that is being set up is known by what its keys were made with here.
JOINING = 3600.0
MAX_JOINING = 256


@define
class PinnedCertificates:
    """Digests by primary address; simple configuration is read again when it changes. `now` is seconds since the epoch."""

    files: IFiles
    paths: Paths
    now: Callable[[], float]
    _seen: tuple[FileStat | None, ...] = ()
    _digests: dict[str, frozenset[str]] = field(factory=dict)

    def of(self, address: str) -> frozenset[str]:
        """What the node with this address may show; none when the cluster does not know it yet.

        While its certificate is replaced there are two, as it may show the former or the new one.
        """
        self._read()
        joining = self._joining(address)
        return self._digests.get(address, frozenset()) | ({joining} if joining else frozenset())

    def _read(self) -> None:
        addresses = self.paths.ssconf_file("node_primary_ips")
        digests = self.paths.ssconf_file("node_certs")
        seen = tuple(self._stat(path) for path in (addresses, digests))
        if seen != self._seen:
            by_name: dict[str, set[str]] = {}
            for name, _, digest in (each.partition("=") for each in self._lines(digests) if "=" in each):
                by_name.setdefault(name, set()).add(digest)
            pairs = [each.split() for each in self._lines(addresses)]
            self._digests = {
                pair[1]: frozenset(by_name[pair[0]]) for pair in pairs if len(pair) == 2 and pair[0] in by_name
            }
            self._seen = seen

    def _stat(self, path: Path) -> FileStat | None:
        try:
            return self.files.stat(path)
        except FileNotFoundError:
            return None

    def _lines(self, path: Path) -> list[str]:
        try:
            return self.files.read(path, MAX_SSCONF).decode().splitlines()
        except FileNotFoundError:
            return []

    def _joining(self, address: str) -> str | None:
        path = self.paths.joining_file(address)
        with suppress(FileNotFoundError):
            if abs(self.now() - self.files.stat(path).mtime) < JOINING:
                return self.files.read(path, MAX_JOINING).decode("ascii", "replace").strip()
        return None


def remember_joining(paths: Paths, address: str, digest: str) -> None:
    """Know a node by the keys that are being sent to it, until the configuration knows it. @raise OSError"""
    for earlier in paths.present(node_files.JOINING):
        with suppress(FileNotFoundError):
            if abs(time.time() - earlier.stat().st_mtime) > JOINING:
                earlier.unlink()
    replace_file(paths.joining_file(address), digest.encode() + b"\n", node_files.JOINING.mode)


def joining_digest(paths: Paths, address: str) -> str | None:
    """By which a node is known that is being set up; None when there is none."""
    with suppress(FileNotFoundError):
        return paths.joining_file(address).read_text(encoding="ascii", errors="replace")[:MAX_JOINING].strip()
    return None


def is_counted(paths: Paths, name: str, digest: str) -> bool:
    """Whether the cluster knows a node by this certificate."""
    return digest in counted(paths.ssconf_file("node_certs"), name)


def counted(path: Path, name: str) -> list[str]:
    """By which certificates the cluster knows a node, as the file of simple configuration has them; mostly one. Blocks."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return []
    return [digest for node, _, digest in (line.partition("=") for line in lines) if node == name]

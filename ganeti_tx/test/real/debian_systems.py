"""Debian's packages of operating system definitions, for a node of a devcluster."""

import os
import shutil
import subprocess
from pathlib import Path

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.test.real.bare_root import MAKE_LIMIT, SUITE, checked, tarball

INSTALLED = Path("/usr/share/ganeti/os")
NAMES = ("noop", "debootstrap")
#: What its scripts run; dump and restore for exports and imports.
TOOLS = ("debootstrap", "dump", "restore", "losetup", "mke2fs", "debugfs", "unshare", "dpkg")
SETTINGS = f"""
PARTITION_STYLE="none"
SUITE="{SUITE}"
MIRROR="file:///nowhere"
GENERATE_CACHE="no"
CLEAN_CACHE=""
"""
#: The definition reads its settings and its cache where Debian's package has them, whatever the node's root is.
WITH_SETTINGS = """
mount --make-rprivate /
mount --bind "$SYSTEMS/settings" /etc/default/ganeti-instance-debootstrap
mount --bind "$SYSTEMS/cache" /var/cache/ganeti-instance-debootstrap
exec "$@"
"""


def why_not() -> str | None:
    """Why instances cannot be installed with them here."""
    missing = [str(INSTALLED / name) for name in NAMES if not (INSTALLED / name).is_dir()]
    missing += [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return None if os.geteuid() == 0 else "only root can mount what is installed"


def offer(node: DevNode) -> None:
    """Have the node find them, as they are."""
    for name in NAMES:
        (node.root / "srv/ganeti/os" / name).symlink_to(INSTALLED / name)


def fill_cache(directory: Path) -> None:
    """A root that debootstrap would have made, with the settings that have it used.

    @raise SkipTest: there is none, and no Debian archive can be reached.
    """
    (directory / "cache").mkdir()
    (directory / "settings").write_text(SETTINGS)
    machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    copy = directory / "cache" / f"cache-{SUITE}-{machine.stdout.strip()}.tar"
    shutil.copyfile(tarball(), copy)
    # What a root of debootstrap's has, and a smaller one does not: where interfaces are written.
    (directory / "etc/network").mkdir(parents=True)
    checked(["tar", "--append", f"--file={copy}", f"--directory={directory}", "./etc/network"], MAKE_LIMIT)


def with_settings(directory: Path, argv: list[str], environment: dict[str, str]) -> None:
    """Run a program that sees these settings where the machine's are; a daemon goes on seeing them."""
    checked(
        ["unshare", "--mount", "sh", "-ec", WITH_SETTINGS, "sh", *argv],
        MAKE_LIMIT,
        {**environment, "SYSTEMS": str(directory)},
    )


def text_on(image: Path, path: str) -> str:
    """A text file in a file system that is not mounted."""
    return checked(["debugfs", "-R", f"cat {path}", str(image)], MAKE_LIMIT)

"""What is shipped beside the program's code: in a checkout below etc/, installed below PREFIX/share/ganeti_tx."""

import site
import sysconfig
from pathlib import Path


def places() -> list[Path]:
    """Where it may lie, the checkout first."""
    installed = [Path(sysconfig.get_path("data")), Path(site.getuserbase())]
    return [Path(__file__).parents[2] / "etc", *(prefix / "share/ganeti_tx" for prefix in installed)]


def shipped(name: str) -> Path:
    """A file or directory by its path below etc/; where it should be when it is missing."""
    found = [place / name for place in places() if (place / name).exists()]
    return (found or [places()[0] / name])[0]

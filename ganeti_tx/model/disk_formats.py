"""How the bytes of disks lie in files."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.disk_template import FORMAT, RAW, Template

[(KEY, FORMATS)] = FORMAT.items()


def format_of(template: Template, params: Mapping[str, Any] | None) -> str:
    """That of a disk of a template with these parameters; those of a provider, whatever their names, say nothing of it."""
    return str((params or {}).get(KEY, RAW)) if KEY in template.fixed else RAW

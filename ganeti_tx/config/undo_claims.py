"""What the undos of a job speak of: minors and ports of disks that it has, had, or was about to make."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ganeti_tx.config.claims import MINOR, PORT, Claim
from ganeti_tx.model import logical_id as ids
from ganeti_tx.model.disk import DiskPlace
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port

SHAPES = {template.value: declared.logical_id for template, declared in TEMPLATES.items()}


def undo_claims(value: Any) -> Iterator[Claim]:
    """Those in the plain data of undos: of disks as nodes and the configuration know them, and of a `DiskPlace`."""
    if isinstance(value, dict):
        yield from _of_disk(value)
        for each in value.values():
            yield from undo_claims(each)
    elif isinstance(value, list):
        for each in value:
            yield from undo_claims(each)


def _of_disk(found: dict[str, Any]) -> Iterator[Claim]:
    """Another version may have written this: what is of no form that is known claims nothing."""
    if (shape := SHAPES.get(str(found.get("dev_type")))) is not None:
        raw = found.get("logical_id")
        if isinstance(raw, list) and ids.fault(shape, "", raw) is None:
            yield from _claims(*(ids.parts(shape, kind, raw) for kind in (NodeUuid, Minor, Port)))
    elif "minors" in found:
        try:
            place = msgspec.convert(found, DiskPlace)
        except msgspec.ValidationError:
            return
        yield from _claims(place.nodes, place.minors, place.ports)


def _claims(nodes: Sequence[str], minors: Sequence[int], ports: Sequence[int]) -> Iterator[Claim]:
    yield from (Claim(MINOR, minor, node) for node, minor in zip(nodes, minors, strict=False))
    yield from (Claim(PORT, port) for port in ports)

"""The query table of Ganeti 3.0: of every resource served here its fields, each as title, kind, live, way of matching."""

from pathlib import Path
from typing import Any

import msgspec

FACTS: dict[str, Any] = msgspec.json.decode(
    Path(__file__).with_name("facts").joinpath("query-fields.json").read_bytes()
)

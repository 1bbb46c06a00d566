"""The configuration table of Ganeti 3.0, as far as tests hold declarations against it."""

from pathlib import Path
from typing import Any

import msgspec

FACTS: dict[str, Any] = msgspec.json.decode(Path(__file__).with_name("facts").joinpath("config.json").read_bytes())

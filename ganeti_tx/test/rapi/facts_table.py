"""The facts about the Remote API as values."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "facts" / "rapi.json").read_text())
IGNORED = "ignored"


@frozen
class Fact:
    """What is known of one method of one resource."""

    path: str
    method: str
    handler: str
    told: dict[str, Any]

    @property
    def arguments(self) -> list[str]:
        """The names of the query arguments."""
        return [str(each).split(" ")[0] for each in self.told["query_args"]]

    @property
    def renames(self) -> dict[str, str]:
        """What clients call parameters, to what the opcode calls them."""
        return dict(self.told.get("body_renames", {}))

    @property
    def fixed(self) -> list[str]:
        """Parameters that a body may not hold."""
        return [str(each).split(" ")[0] for each in self.told.get("set_by_server_400_if_in_body", ())]

    @property
    def takes_body(self) -> bool:
        """Whether the body has parameters of the opcode."""
        return self.told["body"] not in (None, IGNORED) and not self.path.endswith("/role")


def facts() -> Iterator[Fact]:
    """All methods of all resources."""
    for path, methods in FACTS["resources"].items():
        for method, told in methods.items():
            if method != "handler":
                yield Fact(path, method, methods["handler"], told)

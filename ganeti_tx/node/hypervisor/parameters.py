"""What is done alike with the parameters of every hypervisor."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from ganeti_tx.errors import HypervisorError

Params = TypeVar("Params", bound=msgspec.Struct)


def typed_params(hvparams: Mapping[str, Any], kind: type[Params], of: str) -> Params:
    """Filled parameters with their types. @raise HypervisorError: one has the wrong type."""
    try:
        return msgspec.convert(hvparams, kind)
    except msgspec.ValidationError as error:
        raise HypervisorError(f"{of} parameters: {error}")


def refuse_any(faults: Iterable[str]) -> None:
    """@raise HypervisorError: there are faults, all of which are in its text."""
    if found := "; ".join(faults):
        raise HypervisorError(found)

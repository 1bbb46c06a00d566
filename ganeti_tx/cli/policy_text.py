"""Bounds of instance policies as the options that set them."""

from collections.abc import Mapping, Sequence


def bounds_option(minmax: Sequence[Mapping[str, Mapping[str, int]]]) -> list[str]:
    """--ipolicy-bounds-specs and its value; nothing when there are no bounds."""
    pairs = ["/".join(f"{bound}:{specs_text(pair[bound])}" for bound in ("min", "max")) for pair in minmax]
    return ["--ipolicy-bounds-specs", "//".join(pairs)] if pairs else []


def specs_text(specs: Mapping[str, int]) -> str:
    """KEY=VALUE,... in the order of the keys."""
    return ",".join(f"{key}={value}" for key, value in sorted(specs.items()))

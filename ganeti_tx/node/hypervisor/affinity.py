"""Which processors of the node the processors of an instance run on (the parameter `cpu_mask`)."""

from collections.abc import Sequence

ALL = "all"
#: The kernel's largest build knows 8192 processors.
MAX_CPU = 8191

Mask = frozenset[int] | None


def parse_cpu_mask(text: str) -> tuple[Mask, ...]:
    """A mask for each virtual processor, or a single one for all of them; None stands for every processor.

    The form is "all", "1", "1-3,5" or, for each virtual processor its own, "0-1:2-3:all".
    @raise ValueError: it is none of these.
    """
    return tuple(_parse_one(part) for part in text.split(":"))


def masks_for(text: str, vcpus: int) -> Sequence[Mask]:
    """One mask for each virtual processor. @raise ValueError: there are more or fewer masks than processors."""
    masks = parse_cpu_mask(text)
    if len(masks) == 1:
        return masks * vcpus
    if len(masks) != vcpus:
        raise ValueError(f"{text!r} has {len(masks)} masks for {vcpus} virtual processors")
    return masks


def _parse_one(text: str) -> Mask:
    if text == ALL:
        return None
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not _is_cpu(first) or (dash and not _is_cpu(last)):
            raise ValueError(f"{text!r} is neither 'all' nor a list such as '0-2,5' of processors up to {MAX_CPU}")
        if int(last or first) < int(first):
            raise ValueError(f"{part!r} runs backwards")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _is_cpu(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4 and int(text) <= MAX_CPU

"""Whether a node has the processors on which an instance shall run (the parameter `cpu_mask`)."""

from pathlib import Path

from ganeti_tx.node.hypervisor.affinity import parse_cpu_mask
from ganeti_tx.runtime.files import IFiles

#: Which processors the kernel runs, as the parameter would name them.
ONLINE = Path("/sys/devices/system/cpu/online")
LIMIT = 4096


def missing_processors(files: IFiles, cpu_mask: str) -> list[str]:
    """A line for each mask that names none of this node; one of those that it names is enough for the kernel."""
    try:
        (online,) = parse_cpu_mask(files.read(ONLINE, LIMIT).decode("ascii").strip())
        masks = parse_cpu_mask(cpu_mask)
    except (OSError, ValueError):
        return []  # the kernel does not tell, or others say what is wrong with the mask
    return [
        f"cpu_mask: {part!r} names no processor of this node, which has {min(online)} to {max(online)}"
        for part, mask in zip(cpu_mask.split(":"), masks, strict=True)
        if online is not None and mask is not None and not mask & online
    ]

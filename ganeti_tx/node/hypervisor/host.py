"""What the node itself has: memory and processors, as the kernel tells."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles

MEMINFO = Path("/proc/meminfo")
CPUINFO = Path("/proc/cpuinfo")
#: A line of cpuinfo per property and processor: a thousand processors stay below this.
LIMIT = 4 << 20


@frozen
class HostFacts:
    """Memory in MiB; `memory_free` is what a new instance could take without swapping."""

    memory_total: int
    memory_free: int
    cpu_total: int
    cpu_sockets: int

    def as_hv_info(self, version: str = "") -> Mapping[str, Any]:
        """The keys of the node call table's `hv_info_keys` that a hypervisor without a Dom0 of its own can tell."""
        return {
            "memory_total": self.memory_total,
            "memory_free": self.memory_free,
            "memory_dom0": self.memory_total - self.memory_free,
            "memory_hv": 0,
            "cpu_total": self.cpu_total,
            "cpu_nodes": 1,
            "cpu_sockets": self.cpu_sockets,
            "cpu_dom0": 0,
            "hv_version": version,
        }


def parse_meminfo(text: str) -> tuple[int, int]:
    """(total, available) in MiB. @raise HypervisorError: a line is missing."""
    values = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdigit():
            values[name] = int(number[0]) // 1024
    try:
        return values["MemTotal"], values["MemAvailable"]
    except KeyError as error:
        raise HypervisorError(f"cannot tell the node's memory: {MEMINFO} has no line {error.args[0]}")


def parse_cpuinfo(text: str) -> tuple[int, int]:
    """(processors, sockets); at least one each."""
    lines = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in text.splitlines())]
    processors = sum(1 for name, _ in lines if name == "processor")
    sockets = {value for name, value in lines if name == "physical id"}
    return max(processors, 1), max(len(sockets), 1)


def read_host_facts(files: IFiles) -> HostFacts:
    """The facts of this machine at this moment. @raise HypervisorError: the kernel does not tell."""
    try:
        total, free = parse_meminfo(files.read(MEMINFO, LIMIT).decode("utf-8", "replace"))
        processors, sockets = parse_cpuinfo(files.read(CPUINFO, LIMIT).decode("utf-8", "replace"))
    except OSError as error:
        raise HypervisorError(f"cannot tell the node's memory and processors: {error}")
    return HostFacts(total, free, processors, sockets)

"""What a burnin is to do, as its command line says."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.types import RebootType


@frozen(kw_only=True)
class Wanted:
    """What was typed, and makes sense. Sizes are MiB."""

    names: Sequence[str]
    os: str
    hypervisor: str | None
    hvparams: Mapping[str, Any]
    osparams: Mapping[str, Any]
    template: DiskTemplate
    disk_sizes: Sequence[int]
    disk_growth: Sequence[int]
    maxmem: int
    minmem: int
    vcpus: int
    nics: Sequence[Mapping[str, Any]]
    name_check: bool
    ip_check: bool
    early_release: bool
    reboot_types: Sequence[RebootType]
    rename: str | None
    nodes: Sequence[str]
    allocator: str | None
    parallel: bool
    net_timeout: int
    http_check: bool
    keep_instances: bool
    #: The destinations of the options by which steps are left out, of those that were given.
    left_out: frozenset[str]
    verbose: bool
    debug: int
    reason: str

    @property
    def kind(self) -> Template:
        """What its disk template can."""
        return TEMPLATES[self.template]

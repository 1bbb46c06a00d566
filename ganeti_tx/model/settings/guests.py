"""Settings about what runs: hypervisors, operating systems, and the parameters that nodes, instances, cards and disks get.

How parameters are changed, and what they are by default, stands in `rules.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from ganeti_tx.model import hypervisors
from ganeti_tx.model.base import Params, Tracked, no_params
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model.params.state import changed_disk_state, changed_hv_state
from ganeti_tx.model.settings.changes import names
from ganeti_tx.model.settings.setting import Fact, Flag, Form, Reading, Section, Setting
from ganeti_tx.model.values import ListAction, NicParams, NonEmpty
from ganeti_tx.model.values import Params as Given

NameActions = tuple[tuple[ListAction, NonEmpty], ...]


class GuestSettings(Tracked, frozen=True, kw_only=True):
    """The first part of a cluster's settings."""

    enabled_hypervisors: Annotated[
        tuple[Hypervisor, ...],
        Setting(
            default=hypervisors.BY_DEFAULT,
            flags=(
                Flag(
                    "--enabled-hypervisors",
                    "hypervisors, comma separated; the first is the default",
                    reading=Reading.WORDS,
                ),
            ),
            facts=(
                Fact(
                    "Default hypervisor",
                    section=Section.ABOVE,
                    name="default_hypervisor",
                    read=lambda enabled: enabled[0] if enabled else None,
                    type=Hypervisor | None,
                ),
                Fact("Enabled hypervisors", Form.WORDS, Section.ABOVE),
            ),
        ),
    ]
    hvparams: Annotated[
        Mapping[Hypervisor, Params],
        Setting(
            takes=dict[str, Given],
            flags=(
                Flag(
                    "-H --hypervisor-parameters", "hypervisor parameters, as NAME:KEY=VALUE,...", "identkeyval",
                    reading=Reading.HYPERVISORS, default=[], action="append", old=("--hypervisor-defaults",),
                ),
            ),
            facts=(Fact("Hypervisor parameters", Form.ENABLED, Section.ABOVE),),
        ),
    ]  # fmt: skip
    os_hvp: Annotated[
        Mapping[str, Mapping[Hypervisor, Params]],
        Setting(takes=dict[str, Given], facts=(Fact("OS-specific hypervisor parameters", section=Section.ABOVE),)),
    ]
    osparams: Annotated[
        Mapping[str, Mapping[str, str]],
        Setting(takes=dict[str, Given], facts=(Fact("OS parameters", section=Section.ABOVE),)),
    ]
    #: Shown to nobody; the opcode itself says that its values are private.
    osparams_private_cluster: Annotated[Mapping[str, Mapping[str, str]], Setting(takes=dict[str, Any], facts=())]
    hidden_os: Annotated[
        tuple[str, ...],
        Setting(
            default=(),
            takes=NameActions,
            change=names,
            facts=(Fact("Hidden OSes", Form.WORDS, Section.ABOVE),),
        ),
    ]
    blacklisted_os: Annotated[
        tuple[str, ...],
        Setting(
            default=(),
            takes=NameActions,
            change=names,
            facts=(Fact("Blacklisted OSes", Form.WORDS, Section.ABOVE),),
        ),
    ]
    ndparams: Annotated[
        Params,
        Setting(
            takes=Given,
            flags=(Flag("--node-parameters", "node parameters", "keyval", reading=Reading.NODE),),
            facts=(Fact("Default node parameters", section=Section.BELOW),),
        ),
    ]
    beparams: Annotated[
        Mapping[Literal["default"], Params],
        Setting(
            takes=Given,
            flags=(
                Flag(
                    "-B --backend-parameters", "backend parameters, such as memory and vcpus", "keyval",
                    reading=Reading.BACKEND, default={},
                ),
            ),
            facts=(Fact("Default instance parameters", section=Section.BELOW),),
        ),
    ]  # fmt: skip
    nicparams: Annotated[
        Mapping[Literal["default"], Params],
        Setting(
            takes=NicParams,
            flags=(
                Flag(
                    "-N --nic-parameters", "NIC parameters, such as mode and link", "keyval",
                    reading=Reading.NIC, default={},
                ),
            ),
            facts=(Fact("Default nic parameters", section=Section.BELOW),),
        ),
    ]  # fmt: skip
    diskparams: Annotated[
        Mapping[DiskTemplate, Params],
        Setting(
            takes=dict[DiskTemplate, Given],
            flags=(
                Flag(
                    "-D --disk-parameters", "disk parameters, as TEMPLATE:KEY=VALUE,...", "identkeyval",
                    reading=Reading.DISK_TEMPLATES, default=[], action="append",
                ),
            ),
            facts=(Fact("Default disk parameters", section=Section.BELOW),),
        ),
    ]  # fmt: skip
    #: Its options are its own (cli/cluster/ipolicy.py).
    ipolicy: Annotated[
        InstancePolicy,
        Setting(
            takes=Given,
            facts=(
                Fact("Instance policy - limits for instances", Form.POLICY, Section.BELOW, type=dict[str, Any]),
            ),
        ),
    ]  # fmt: skip
    hv_state_static: Annotated[
        Params,
        Setting(
            parameter="hv_state",
            takes=Given,
            change=changed_hv_state,
            initial={},
            flags=(
                Flag(
                    "--hypervisor-state", "hypervisor state", "identkeyval",
                    reading=Reading.STATES, default=[], action="append",
                ),
            ),
            facts=(Fact(name="hv_state"),),
        ),
    ] = msgspec.field(default_factory=no_params)  # fmt: skip
    disk_state_static: Annotated[
        Params,
        Setting(
            parameter="disk_state",
            takes=Given,
            change=changed_disk_state,
            initial={},
            flags=(
                Flag(
                    "--disk-state", "disk state", "identkeyval", reading=Reading.STATES, default=[], action="append"
                ),
            ),
            facts=(Fact(name="disk_state"),),
        ),
    ] = msgspec.field(default_factory=no_params)  # fmt: skip

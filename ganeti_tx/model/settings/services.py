"""Settings about what the cluster does by itself, and what it leaves alone."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from ganeti_tx.model import disk_templates
from ganeti_tx.model.base import no_text
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.settings.changes import collectors, uid_pool
from ganeti_tx.model.settings.checks import image, tools
from ganeti_tx.model.settings.collectors import COLLECTORS, DEFAULT_COLLECTOR, DataCollector
from ganeti_tx.model.settings.nodes import ON_MODIFY
from ganeti_tx.model.settings.setting import Fact, Flag, Form, Program, Reading, Section, Setting
from ganeti_tx.model.settings.storage import StorageSettings
from ganeti_tx.model.values import IdRange, NonEmpty, Params

ON_INIT = (Program.INIT,)
#: Address families (AF_INET, AF_INET6) as IP versions.
IP_VERSIONS = {2: 4, 10: 6}


class ServiceSettings(StorageSettings, frozen=True, kw_only=True):
    """The last part of a cluster's settings."""

    maintain_node_health: Annotated[
        bool,
        Setting(
            default=False,
            flags=(Flag("--maintain-node-health", "whether the watcher repairs nodes", "bool", "yes|no"),),
            facts=(Fact("maintenance of node health"),),
        ),
    ]
    uid_pool: Annotated[
        tuple[IdRange, ...],
        Setting(
            default=(),
            more={"add_uids": tuple[IdRange, ...], "remove_uids": tuple[IdRange, ...]},
            change=uid_pool,
            flags=(
                Flag("--uid-pool", "user ids that instances may run as, as LOW-HIGH,...", reading=Reading.UIDS),
                Flag(
                    "--add-uids", "user ids to add to the pool, as LOW-HIGH,...",
                    reading=Reading.UIDS, on=ON_MODIFY, sets="add_uids",
                ),
                Flag(
                    "--remove-uids", "user ids to take out of the pool, as LOW-HIGH,...",
                    reading=Reading.UIDS, on=ON_MODIFY, sets="remove_uids",
                ),
            ),
            facts=(Fact("uid pool", Form.UIDS),),
        ),
    ]  # fmt: skip
    #: By uuid; whoever reads a configuration in which no group is named, or one that is gone, takes the master's.
    default_group: Annotated[
        str,
        Setting(
            default="",
            takes=NonEmpty,
            single=True,
            flags=(
                Flag(
                    "--default-group", "node group for new instances and nodes when none is named",
                    metavar="<nodegroup>", on=ON_MODIFY, own=True,
                ),
            ),
            facts=(Fact("default node group"),),
        ),
    ] = msgspec.field(default_factory=no_text)  # fmt: skip
    default_iallocator: Annotated[
        str,
        Setting(
            default="",
            flags=(
                Flag(
                    "-I --default-iallocator", "program that chooses nodes when none is named", metavar="<NAME>"
                ),
            ),
            facts=(Fact("default instance allocator"),),
        ),
    ]  # fmt: skip
    default_iallocator_params: Annotated[
        Mapping[str, object],
        Setting(
            default={},
            takes=Params,
            flags=(Flag("--default-iallocator-params", "parameters of that program", "keyval"),),
            facts=(Fact("default instance allocator parameters"),),
        ),
    ]
    primary_ip_family: Annotated[
        Literal[2, 10],
        Setting(
            default=2,
            changes=False,
            flags=(
                Flag(
                    "--primary-ip-version", "IP version of the nodes' primary addresses",
                    metavar="4|6", default=4, on=ON_INIT, sets="primary_ip_version",
                ),
            ),
            facts=(
                Fact(
                    "primary ip version", Form.NUMBER, name="primary_ip_version",
                    read=lambda family: IP_VERSIONS[family], type=Literal[4, 6],
                ),
            ),
        ),
    ]  # fmt: skip
    prealloc_wipe_disks: Annotated[
        bool,
        Setting(
            default=False,
            flags=(Flag("--prealloc-wipe-disks", "whether new disks are wiped first", "bool", "yes|no"),),
            facts=(Fact("preallocation wipe disks"),),
        ),
    ]
    enabled_disk_templates: Annotated[
        tuple[DiskTemplate, ...],
        Setting(
            default=disk_templates.BY_DEFAULT,
            flags=(
                Flag(
                    "--enabled-disk-templates", "disk templates that may be used, comma separated",
                    reading=Reading.WORDS,
                ),
            ),
            facts=(Fact("enabled disk templates", Form.WORDS),),
        ),
    ]  # fmt: skip
    install_image: Annotated[
        str,
        Setting(
            default="",
            check=image,
            flags=(Flag("--install-image", "image of the helper machine that installs"),),
            facts=(Fact("install image"),),
        ),
    ]
    instance_communication_network: Annotated[
        str,
        Setting(
            default="",
            flags=(
                Flag("--instance-communication-network", "network between nodes and instances", on=ON_MODIFY),
            ),
            facts=(Fact("instance communication network"),),
        ),
    ]  # fmt: skip
    zeroing_image: Annotated[
        str,
        Setting(
            default="",
            check=image,
            flags=(Flag("--zeroing-image", "image of the helper machine that wipes"),),
            facts=(Fact("zeroing image"),),
        ),
    ]
    compression_tools: Annotated[
        tuple[str, ...],
        Setting(
            default=("gzip", "gzip-fast", "gzip-slow"),
            takes=tuple[NonEmpty, ...],
            check=tools,
            remote=False,
            flags=(
                Flag(
                    "--compression-tools", "compressors for moving instances, comma separated", reading=Reading.WORDS
                ),
            ),
            facts=(Fact("compression tools"),),
        ),
    ]  # fmt: skip
    enabled_user_shutdown: Annotated[
        bool,
        Setting(
            default=False,
            flags=(Flag("--user-shutdown", "whether users may stop their instances from inside", "bool", "yes|no"),),
            facts=(Fact("enabled user shutdown"),),
        ),
    ]
    modify_ssh_setup: Annotated[
        bool,
        Setting(
            default=True,
            initial=False,
            changes=False,
            single=True,
            flags=(
                Flag(
                    "--no-ssh-init", "leave SSH keys alone", None, default=True, action="store_false", on=ON_INIT
                ),
            ),
            facts=(Fact("modify ssh setup"),),
        ),
    ]  # fmt: skip
    ssh_key_type: Annotated[
        Literal["dsa", "rsa", "ecdsa"],
        Setting(
            default="rsa",
            changes=False,
            single=True,
            flags=(
                Flag(
                    "--ssh-key-type", "type of the nodes' SSH keys", "choice",
                    choices=("rsa", "dsa", "ecdsa"), on=ON_INIT,
                ),
            ),
            facts=(Fact("ssh_key_type"),),
        ),
    ]  # fmt: skip
    ssh_key_bits: Annotated[
        int,
        Setting(
            default=2048,
            changes=False,
            single=True,
            flags=(Flag("--ssh-key-bits", "length of the nodes' SSH keys", "int", on=ON_INIT),),
            facts=(Fact("ssh_key_bits"),),
        ),
    ]
    modify_etc_hosts: Annotated[
        bool,
        Setting(
            default=True,
            initial=False,
            flags=(
                Flag(
                    "--no-etc-hosts", "leave /etc/hosts alone", None, default=True, action="store_false", on=ON_INIT
                ),
                Flag("--modify-etc-hosts", "whether nodes are put into /etc/hosts", "bool", "yes|no", on=ON_MODIFY),
            ),
        ),
    ]  # fmt: skip
    data_collectors: Annotated[
        Mapping[str, DataCollector],
        Setting(
            default=dict.fromkeys(COLLECTORS, DEFAULT_COLLECTOR),
            parameter="enabled_data_collectors",
            takes=dict[str, bool],
            more={"data_collector_interval": dict[str, int]},
            change=collectors,
            flags=(
                Flag(
                    "--enabled-data-collectors", "collectors switched on or off, NAME=yes|no,...", "keyval",
                    reading=Reading.SWITCHES, default={}, on=ON_MODIFY,
                ),
                Flag(
                    "--data-collector-interval", "seconds between two looks, NAME=SECONDS,...", "keyval",
                    reading=Reading.SECONDS, default={}, on=ON_MODIFY, sets="data_collector_interval",
                ),
            ),
            facts=(
                Fact(
                    "Data collectors", Form.COLLECTORS, Section.BELOW, "enabled_data_collectors",
                    lambda held: {name: each.active for name, each in held.items()}, dict[str, bool],
                ),
                Fact(
                    name="data_collector_interval",
                    read=lambda held: {name: each.interval for name, each in held.items()}, type=dict[str, int],
                ),
            ),
        ),
    ]  # fmt: skip

"""Settings about nodes, jobs and addresses."""

from typing import Annotated

from ganeti_tx.model.settings.checks import at_least_one, mac_prefix
from ganeti_tx.model.settings.guests import GuestSettings
from ganeti_tx.model.settings.setting import Fact, Flag, Form, Program, Reading, Setting
from ganeti_tx.model.values import NonEmpty, NonNegative, Positive

ON_MODIFY = (Program.MODIFY,)


class NodeSettings(GuestSettings, frozen=True, kw_only=True):
    """The second part of a cluster's settings."""

    candidate_pool_size: Annotated[
        int,
        Setting(
            default=10,
            takes=Positive,
            check=at_least_one,
            flags=(Flag("-C --candidate-pool-size", "how many nodes keep the configuration", "int"),),
            facts=(Fact("candidate pool size", Form.NUMBER),),
        ),
    ]
    max_running_jobs: Annotated[
        int,
        Setting(
            default=20,
            takes=Positive,
            check=at_least_one,
            flags=(Flag("--max-running-jobs", "how many jobs run at the same time", "int", on=ON_MODIFY),),
            facts=(Fact("maximal number of jobs running simultaneously", Form.NUMBER),),
        ),
    ]
    max_tracked_jobs: Annotated[
        int,
        Setting(
            default=25,
            takes=Positive,
            check=at_least_one,
            flags=(
                Flag("--max-tracked-jobs", "how many running jobs are watched for changes", "int", on=ON_MODIFY),
            ),
            facts=(Fact("maximal number of jobs simultaneously tracked by the scheduler", Form.NUMBER),),
        ),
    ]  # fmt: skip
    mac_prefix: Annotated[
        str,
        Setting(
            default="aa:00:00",
            takes=NonEmpty,
            check=mac_prefix,
            flags=(Flag("-m --mac-prefix", "first three bytes of generated MAC addresses", metavar="PREFIX"),),
            facts=(Fact("mac prefix"),),
        ),
    ]
    #: `init` finds one that fits; the address moves with it.
    master_netdev: Annotated[
        str,
        Setting(
            flags=(Flag("--master-netdev", "interface for the cluster's own address", metavar="NETDEV"),),
            facts=(Fact("master netdev"),),
        ),
    ]
    #: `init` takes the longest for the addresses' family.
    master_netmask: Annotated[
        int,
        Setting(
            default=32,
            takes=NonNegative,
            flags=(
                Flag(
                    "--master-netmask", "prefix length of the cluster's own address",
                    metavar="NETMASK", reading=Reading.NUMBER,
                ),
            ),
            facts=(Fact("master netmask"),),
        ),
    ]  # fmt: skip
    use_external_mip_script: Annotated[
        bool,
        Setting(
            default=False,
            flags=(
                Flag(
                    "--use-external-mip-script", "whether a script sets the cluster's own address", "bool", "yes|no"
                ),
            ),
            facts=(Fact("use external master IP address setup script"),),
        ),
    ]  # fmt: skip

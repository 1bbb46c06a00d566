"""The options of gnt-cluster init."""

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.setting_options import options_of
from ganeti_tx.cli.options import SECONDARY_IP, Option
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED

OPTIONS = (
    SECONDARY_IP,
    *options_of(DECLARED, Program.INIT),
    *ipolicy.OPTIONS,
    # design-2.0, cluster defaults
    Option(("--defaults",), "old_defaults", "old spelling: defaults as hypervisor=NAME,bridge=NAME", "keyval"),
)

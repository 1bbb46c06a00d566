"""The options of gnt-cluster init."""

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.old_defaults import DEFAULTS
from ganeti_tx.cli.cluster.setting_options import options_of
from ganeti_tx.cli.options import SECONDARY_IP
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED

OPTIONS = (
    SECONDARY_IP,
    *options_of(DECLARED, Program.INIT),
    *ipolicy.OPTIONS,
    DEFAULTS,
)

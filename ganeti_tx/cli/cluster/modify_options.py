"""The options of gnt-cluster modify."""

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.old_defaults import DEFAULTS
from ganeti_tx.cli.cluster.setting_options import options_of
from ganeti_tx.cli.options import DRY_RUN, FORCE, PRIORITY, SUBMITTING
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED

OPTIONS = (
    FORCE,
    *SUBMITTING,
    DRY_RUN,
    PRIORITY,
    *options_of(DECLARED, Program.MODIFY),
    *(option for option in ipolicy.OPTIONS if not option.dest.startswith("ispecs_")),
    DEFAULTS,
)

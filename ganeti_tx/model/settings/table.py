"""All settings of the cluster as they are declared, in their order; `rules.py` has them with their rules."""

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.settings.setting import settings_of

DECLARED = settings_of(Cluster)

"""A cluster in one process does what every cluster does."""

from ganeti_tx.test.contracts.cluster import ClusterContract, Scene
from ganeti_tx.test.inprocess.case import ClusterCase


class InProcessContractTests(ClusterContract, ClusterCase):
    """The scenarios on simulated time."""

    def scene(self) -> Scene:
        """This test's own cluster."""
        return ClusterCase.scene(self)

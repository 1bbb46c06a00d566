"""Tests of the checks of a new cluster's settings."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.cluster_settings import check_params
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings


class CheckParamsTests(SynchronousTestCase):
    """All faults at once."""

    def test_all_faults(self) -> None:
        """Each wrong setting is a line of its own, with the value and what is allowed."""
        problems = Problems()
        settings = InitSettings(
            cluster_name="c", enabled_hypervisors=["kvmm"], mac_prefix="zz", candidate_pool_size=0, beparams={"x": 1}
        )
        check_params(settings, problems)
        for words in ("'kvmm'", "aa:bb:cc, not 'zz'", "at least 1, not 0", "x"):
            self.assertTrue(any(words in line for line in problems.found), words)
        self.assertEqual(len(problems.found), 4)

    def test_netmask(self) -> None:
        """The cluster's address has a netmask of its family, or could not be taken."""
        for version, netmask, allowed in ((4, 33, "32"), (4, 0, "32"), (6, 129, "128")):
            problems = Problems()
            settings = InitSettings(cluster_name="c", primary_ip_version=version, master_netmask=netmask)
            check_params(settings, problems)
            self.assertEqual(problems.found, [f"--master-netmask must be from 1 to {allowed}, not {netmask}"])

    def test_defaults(self) -> None:
        """The settings that nobody changed are fine."""
        problems = Problems()
        check_params(InitSettings(cluster_name="c"), problems)
        self.assertEqual(problems.found, [])

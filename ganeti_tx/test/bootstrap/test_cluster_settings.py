"""Tests of the checks of a new cluster's settings."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.cluster_settings import check_params, cluster_settings
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED


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

    def test_volume_group(self) -> None:
        """A template that needs a volume group is told so; no cluster enables it of its own accord."""
        for group, faults in ((None, 1), ("", 1), ("xenvg", 0)):
            problems = Problems()
            settings = InitSettings(cluster_name="c", enabled_disk_templates=["plain", "file"], vg_name=group)
            check_params(settings, problems)
            self.assertEqual(len(problems.found), faults, problems.found)
            self.assertTrue(all("'plain' needs a volume group" in line for line in problems.found))
        self.assertNotIn("plain", InitSettings(cluster_name="c").enabled_disk_templates)

    def test_policy(self) -> None:
        """A new cluster's policy allows the templates that are enabled, or those of them that are named."""
        for named, allowed, faults in ((None, ["file", "diskless"], 0), (["file"], ["file"], 0), (["rbd"], ["rbd"], 1)):
            problems = Problems()
            ipolicy = {} if named is None else {"disk-templates": named}
            settings = InitSettings(cluster_name="c", enabled_disk_templates=["file", "diskless"], ipolicy=ipolicy)
            made = cluster_settings(settings, check_params(settings, problems))
            self.assertEqual((list(made["ipolicy"]["disk-templates"]), len(problems.found)), (allowed, faults))
        self.assertIn("'rbd' is allowed by the ipolicy, but not enabled", problems.found[0])

    def test_each_table(self) -> None:
        """Of parameters by hypervisor and by template, each wrong one is told; what is right stands."""
        problems = Problems()
        hvparams = {"kvm": {"acpi": "maybe"}, "xen-pvm": {"x": 1}, "lxc": {"startup_timeout": 9}, "qemu": {}}
        settings = InitSettings(cluster_name="c", hvparams=hvparams, diskparams={"drbd": {"stripes": 1}, "tape": {}})
        found = check_params(settings, problems)
        self.assertEqual(len(problems.found), 5, problems.found)
        self.assertEqual(found["hvparams"][Hypervisor("lxc")], {"startup_timeout": 9})

    def test_as_modify(self) -> None:
        """What a change would refuse is refused for a new cluster, too, and written in the same form."""
        problems = Problems()
        settings = InitSettings(
            cluster_name="c", uid_pool=((1, 9), (5, 7)), shared_file_storage_dir="a/b", mac_prefix="AA:00:01",
            compression_tools=("a b",), file_storage_dir="//srv/x/", hvparams={"kvm": {"spice_bind": "1.2.3"}},
        )  # fmt: skip
        found = check_params(settings, problems)
        self.assertEqual((found["mac_prefix"], found["file_storage_dir"]), ("aa:00:01", "/srv/x"))
        for words in (
            *("5-7 overlaps another range", "'a/b' is no absolute path", "'a b' is no plain name"),
            "hvparams.kvm.spice_bind: '1.2.3' is not an IP address or the name of an interface",
        ):
            self.assertTrue(any(words in line for line in problems.found), words)
        self.assertEqual(len(problems.found), 4)

    def test_pool(self) -> None:
        """Users of the cluster's pool need one."""
        for pool, faults in (((), 1), (((61000, 61009),), 0)):
            problems = Problems()
            hvparams = {"kvm": {"security_model": "pool"}}
            check_params(InitSettings(cluster_name="c", uid_pool=pool, hvparams=hvparams), problems)
            self.assertEqual(len(problems.found), faults)

    def test_netmask(self) -> None:
        """The cluster's address has a netmask of its family, or could not be taken."""
        for version, netmask, allowed in ((4, 33, "32"), (4, 0, "32"), (6, 129, "128")):
            problems = Problems()
            settings = InitSettings(cluster_name="c", primary_ip_version=version, master_netmask=netmask)
            check_params(settings, problems)
            self.assertEqual(problems.found, [f"--master-netmask must be from 1 to {allowed}, not {netmask}"])

    def test_names(self) -> None:
        """A document has what the options of init set, by their names, and the policy; nothing else."""
        options = {flag.sets for setting in DECLARED for flag in setting.flags_on(Program.INIT)}
        own = {"cluster_name", "secondary_ip", "ipolicy"}
        self.assertEqual(set(InitSettings.__struct_fields__), options | own)

    def test_defaults(self) -> None:
        """The settings that nobody changed are fine."""
        problems = Problems()
        check_params(InitSettings(cluster_name="c"), problems)
        self.assertEqual(problems.found, [])

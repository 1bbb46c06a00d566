"""Tests of changing the cluster's settings."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model import hypervisors
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import ListAction
from ganeti_tx.model.settings.changes import uid_pool
from ganeti_tx.rpc.calls.image import ImageSize
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, NodeVerify, StorageSpace
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.test.logic.node.test_set_params import SetParamsCase, cluster_of, member
from ganeti_tx.test.logic.stage import INSTANCE


def modify(**changes: Any) -> OpClusterSetParams:
    """A request."""
    return OpClusterSetParams(**changes)


class SetParamsTests(SetParamsCase):
    """OP_CLUSTER_SET_PARAMS."""

    @property
    def settings(self) -> Cluster:
        """The cluster's settings as they are on disk."""
        return self.stage.snapshot.cluster

    def test_plain(self) -> None:
        """Plain settings are taken over as they are; the rest stays."""
        changes = {
            "max_running_jobs": 7, "max_tracked_jobs": 9, "maintain_node_health": True, "prealloc_wipe_disks": True,
            "default_iallocator": "hail", "default_iallocator_params": {"a": 1}, "modify_etc_hosts": False,
            "enabled_user_shutdown": True, "mac_prefix": "aa:bb:cc", "reserved_lvs": ("x.*",), "install_image": "/i",
            "zeroing_image": "http://images.example.com/z", "compression_tools": ("lzop",), "use_external_mip_script": True,
            "file_storage_dir": "/srv/other", "uid_pool": ((1000, 1005), (2000, 2000)),
        }  # fmt: skip
        before = self.settings
        self.nodes.answer(ImageSize, 1)
        self.assertIsNone(self.run_op(modify(**changes)))
        after = self.settings
        self.assertEqual({name: getattr(after, name) for name in changes}, changes)
        kept = replace(before, **changes, serial_no=after.serial_no, mtime=after.mtime)
        self.assertEqual(after, kept)

    def test_nothing(self) -> None:
        """A change of nothing succeeds, as of Ganeti's Remote API."""
        before = self.settings
        self.assertIsNone(self.run_op(modify()))
        self.assertEqual(replace(self.settings, serial_no=before.serial_no, mtime=before.mtime), before)

    def test_drbd_helper(self) -> None:
        """It is what each node's module calls, or taken as it is while nothing is mirrored."""
        self.nodes.answers[NodeVerify] = lambda node, call: {
            "mirrors": {word: ["8.4.11", "/bin/true", []] for word in call.checks["mirrors"]}
        }
        self.run_op(modify(drbd_helper="/bin/true"))
        self.assertEqual(self.settings.drbd_usermode_helper, "/bin/true")
        text = self.refused(modify(drbd_helper="/bin/false"), OpPrereqError)
        self.assertIn("Error on node 'node1.example.com': drbd usermode helper is '/bin/true', not '/bin/false'", text)
        self.nodes.answer(NodeVerify, {"mirrors": {"drbd": "no module"}})
        self.assertIn("no module", self.refused(modify(drbd_helper="/bin/false"), OpPrereqError))
        self.assertEqual(self.settings.drbd_usermode_helper, "/bin/true")
        self.nodes.answer(NodeVerify, {"mirrors": {"drbd": 5}})
        self.run_op(modify(drbd_helper="/bin/false"))
        self.assertIn("does not tell what its DRBD calls: its answer is not understood", self.stage.feedback[-1])
        self.nodes.answer(NodeVerify, {"failed": {"mirrors": "no /proc/drbd"}})
        self.run_op(modify(drbd_helper="/bin/true"))
        self.assertIn("does not tell what its DRBD calls: no /proc/drbd", self.stage.feedback[-1])
        self.run_op(modify(drbd_helper=""))
        self.assertIsNone(self.settings.drbd_usermode_helper)
        self.set_stage(
            replace(self.initial, cluster=replace(self.settings, enabled_disk_templates=(DiskTemplate.FILE,)))
        )
        self.run_op(modify(drbd_helper="/bin/false"))
        self.assertEqual(self.settings.drbd_usermode_helper, "/bin/false")
        self.assertIn("did not enable the drbd disk template", self.stage.feedback[-1])

    def test_templates_of_the_policy(self) -> None:
        """None is allowed anew that nobody could make disks of; what was allowed before may stay."""
        before = self.settings.ipolicy.disk_templates
        self.assertIn(DiskTemplate.RBD, before)
        self.run_op(modify(ipolicy={"disk-templates": [DiskTemplate.FILE, DiskTemplate.RBD]}))
        self.run_op(modify(ipolicy={"disk-templates": [DiskTemplate.FILE]}))
        text = self.refused(modify(ipolicy={"disk-templates": [DiskTemplate.FILE, DiskTemplate.RBD]}), OpPrereqError)
        self.assertIn("allowed by the ipolicy, but not enabled on the cluster: rbd", text)
        self.assertEqual(self.settings.ipolicy.disk_templates, (DiskTemplate.FILE,))

    def test_no_allocator(self) -> None:
        """The default allocator can be taken away."""
        self.run_op(modify(default_iallocator="hail"))
        self.run_op(modify(default_iallocator=""))
        self.assertEqual(self.settings.default_iallocator, "")

    def test_volume_group(self) -> None:
        """It is set, and taken away while no template needs it."""
        space = StorageSpace("lvm-vg", "xenvg", 102400, 102400)
        self.stage.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[space], hypervisors={}))
        self.run_op(modify(vg_name="xenvg"))
        self.assertEqual(self.settings.volume_group_name, "xenvg")
        self.run_op(modify(enabled_disk_templates=(DiskTemplate.FILE,), vg_name=""))
        self.assertIsNone(self.settings.volume_group_name)

    def test_refusals(self) -> None:
        """What cannot be is refused in one clear line."""
        self.stage.templates = tuple(each for each in AVAILABLE if each is not DiskTemplate.RBD)
        for changes, reason in (
            ({"default_iallocator": "nosuch"}, "there is no instance allocator 'nosuch'"),
            ({"vg_name": "a/b"}, "'a/b' is no name of a volume group"),
            ({"drbd_helper": "true"}, "drbd_helper: 'true' is no absolute path"),
            ({"master_netdev": ""}, "needs an interface"),
            ({"master_netmask": 33}, "must be from 1 to 32"),
            ({"instance_communication_network": "x" * 300}, "network name 'xxxxxxxxxxxxxxxxxxxx'... is too long"),
            ({"mac_prefix": "aa:bb"}, "form aa:bb:cc"),
            ({"reserved_lvs": ("(",)}, "reserved_lvs: invalid regular expression '('"),
            ({"reserved_lvs": ("(" * 900,)}, "reserved_lvs: invalid regular expression"),
            ({"reserved_lvs": ("(a+)+b",)}, "repeats a group that holds repeats"),
            ({"reserved_lvs": ("a" * 1001,)}, "allowed are 1000"),
            ({"reserved_lvs": ("a" * 900,) * 30}, "weigh more than"),
            ({"compression_tools": ("/bin/sh",)}, "no plain name"),
            ({"file_storage_dir": "srv"}, "absolute path"),
            ({"install_image": "srv/i"}, "install_image: 'srv/i' is neither an absolute path nor a URL"),
            ({"zeroing_image": "http://"}, "neither an absolute path nor a URL"),
            ({"enabled_hypervisors": ()}, "at least one hypervisor"),
            ({"enabled_disk_templates": ()}, "at least one disk template"),
            ({"enabled_disk_templates": (DiskTemplate.FILE, DiskTemplate.RBD)}, "rbd is not available here"),
            ({"enabled_disk_templates": (DiskTemplate.DISKLESS,)}, "instance web1.example.com uses it"),
            ({"enabled_hypervisors": (Hypervisor.FAKE,)}, "instance web1.example.com uses it"),
            ({"hvparams": {"qemu": {}}}, "hypervisor 'qemu' is not known"),
            ({"hvparams": {"kvm": {"nonsense": 1}}}, "hvparams.kvm.nonsense: unknown"),
            ({"beparams": {"minmem": 512}}, "above maxmem"),
            ({"nicparams": {"mode": "wild"}}, "invalid value 'wild'"),
            ({"ndparams": {"ssh_port": "x"}}, "ssh_port"),
            ({"ipolicy": {"vcpu-ratio": 0.5}}, "at least 1"),
            ({"ipolicy": {"std": {"cpu-count": 9}}}, "ipolicy.std.cpu-count: must be between 1 and 8, got 9"),
            ({"remove_uids": ((1, 2),)}, "cannot be removed"),
            ({"add_uids": ((5, 9), (8, 10))}, "overlaps"),
            ({"uid_pool": ((5000, 5010), (5005, 5005))}, "uid_pool: 5005 overlaps another range, which ends at 5010"),
            ({"enabled_data_collectors": {"wild": True}}, "'wild' is not known"),
        ):  # fmt: skip
            self.assertIn(reason, self.refused(modify(**changes), OpPrereqError))
        self.assertEqual(self.settings, cluster_of(member(3)).cluster)

    def test_policy_follows(self) -> None:
        """A policy that allows all that is enabled does so with others; one that does not allows nothing new, and that is told."""
        file, shared, ext, bare = DiskTemplate.FILE, DiskTemplate.SHAREDFILE, DiskTemplate.EXT, DiskTemplate.DISKLESS
        self.run_op(modify(enabled_disk_templates=(file, shared, bare), shared_file_storage_dir="/srv/shared"))
        self.assertEqual(set(self.settings.ipolicy.disk_templates), {file, shared, bare})
        self.assertIn("The instance policy allows now the disk templates", self.stage.feedback[-1])
        self.run_op(modify(ipolicy={"disk-templates": [file]}))
        self.run_op(modify(enabled_disk_templates=(file, ext, bare)))
        self.assertEqual(self.settings.ipolicy.disk_templates, (file,))
        self.assertIn("does not allow the newly enabled disk templates ext", self.stage.feedback[-1])
        self.run_op(modify(enabled_disk_templates=(file, bare), ipolicy={"disk-templates": [file, bare]}))
        self.assertEqual(self.settings.ipolicy.disk_templates, (file, bare))

    def test_hypervisor_without_driver(self) -> None:
        """One that no node has a driver for cannot be enabled."""
        self.patch(hypervisors, "AVAILABLE", (Hypervisor.KVM, Hypervisor.FAKE))
        change = modify(enabled_hypervisors=(Hypervisor.KVM, Hypervisor.CHROOT))
        self.assertIn("chroot is not available here; available: kvm, fake", self.refused(change, OpPrereqError))

    def test_template_without_disks(self) -> None:
        """Diskless is in use by an instance that has no disks."""
        bare = replace(INSTANCE, disks=())
        self.stage = self.make_stage(replace(cluster_of(member(3)), instances={bare.uuid: bare}, disks={}))
        self.nodes = self.stage.nodes
        text = self.refused(modify(enabled_disk_templates=(DiskTemplate.FILE,)), OpPrereqError)
        self.assertEqual(text, f"disk template diskless cannot be disabled: instance {bare.name} uses it")

    def test_directories(self) -> None:
        """Any absolute directory is taken, as it is written down in one way only."""
        for given, kept in (("/srv/a/", "/srv/a"), ("/srv//b/../c", "/srv/c"), ("//x", "/x"), ("/", "/"), ("", "")):
            self.run_op(modify(file_storage_dir=given))
            self.assertEqual(self.settings.file_storage_dir, kept)

    def test_collectors(self) -> None:
        """A collector that the configuration does not name, as one of an older version does not, can be set like others."""
        self.run_op(
            modify(enabled_data_collectors={"lv": False}, data_collector_interval={"inst-status-kvm": 9_000_000})
        )
        found = self.settings.data_collectors
        self.assertEqual((found["lv"].active, found["inst-status-kvm"].interval), (False, 9_000_000))

    def test_parameters(self) -> None:
        """Parameters are laid over what was set; the word default takes one away."""
        self.run_op(
            modify(
                hvparams={"kvm": {"acpi": "no", "kernel_path": "/k"}},
                beparams={"memory": "1g"},
                nicparams={"link": "br1"},
                ndparams={"ssh_port": "23"},
                osparams={"debian": {"a": "1", "b": "2"}},
                osparams_private_cluster={"debian": {"password": Private("s3cret")}},
                os_hvp={"debian": {"kvm": {"acpi": True}}},
                ipolicy={"std": {"cpu-count": 2}, "vcpu-ratio": 2.0},
                hv_state={"kvm": {"mem_total": 1}},
            )
        )
        after = self.settings
        self.assertEqual(after.hvparams[Hypervisor.KVM], {"acpi": False, "kernel_path": "/k"})
        self.assertEqual((after.beparams["default"]["minmem"], after.beparams["default"]["maxmem"]), (1024, 1024))
        self.assertEqual(after.nicparams["default"]["link"], "br1")
        self.assertEqual(after.ndparams["ssh_port"], 23)
        self.assertEqual(after.osparams["debian"], {"a": "1", "b": "2"})
        self.assertEqual(after.osparams_private_cluster["debian"], {"password": "s3cret"})
        self.assertEqual(after.os_hvp, {"debian": {Hypervisor.KVM: {"acpi": True}}})
        self.assertEqual((after.ipolicy.std.cpu_count, after.ipolicy.vcpu_ratio), (2, 2.0))
        self.run_op(modify(hvparams={"kvm": {"acpi": "default"}}, osparams={"debian": {"a": "default"}}))
        self.assertEqual(self.settings.hvparams[Hypervisor.KVM], {"kernel_path": "/k"})
        self.assertEqual(self.settings.osparams["debian"], {"b": "2"})

    def test_state(self) -> None:
        """What is said of resources goes by hypervisors and kinds of storage that there are, and is laid over what was said."""
        self.run_op(modify(hv_state={"kvm": {"mem_total": 1}}, disk_state={"plain": {"xenvg": 5}}))
        self.run_op(modify(hv_state={"kvm": {"cpu_total": 2}}))
        self.assertEqual(self.settings.hv_state_static, {"kvm": {"mem_total": 1, "cpu_total": 2}})
        self.assertIn("state: nosuch", self.refused(modify(hv_state={"nosuch": {"x": 1}}), OpPrereqError))
        self.assertIn("state: file", self.refused(modify(disk_state={"file": {"x": 1}}), OpPrereqError))

    def test_nodes_are_asked(self) -> None:
        """Hypervisor parameters count when every node that is online says that it can do with them."""
        self.nodes.fail(HypervisorValidateParams, "no kernel there")
        text = self.refused(modify(hvparams={"kvm": {"kernel_path": "/k"}}), OpPrereqError)
        self.assertIn("no kernel there", text)
        self.run_op(modify(max_running_jobs=3))
        self.assertEqual(len(self.nodes.of_kind(HypervisorValidateParams)), 3)

    def test_nodes_are_asked_of_oses(self) -> None:
        """So do those that instances of an OS get, also where its variant, or a newly enabled hypervisor, brings them."""
        self.nodes.fail(HypervisorValidateParams, "'nosuch' is not known")
        wrong = {"kvm": {"cpu_type": "nosuch"}}
        text = self.refused(modify(os_hvp={"debian": wrong}), OpPrereqError)
        self.assertIn("OS debian: node node1.example.com: 'nosuch' is not known", text)
        self.assertEqual(
            {call.hvparams["cpu_type"] for call in self.nodes.of_kind(HypervisorValidateParams)}, {"nosuch"}
        )
        self.assertIn("OS debian+12: ", self.refused(modify(os_hvp={"debian+12": wrong}), OpPrereqError))
        self.nodes.succeed(HypervisorValidateParams)
        self.run_op(modify(os_hvp={"debian": wrong}))
        asked = len(self.nodes.of_kind(HypervisorValidateParams))
        self.run_op(modify(os_hvp={"debian": wrong}, max_running_jobs=3))
        self.assertEqual(len(self.nodes.of_kind(HypervisorValidateParams)), asked)
        self.nodes.fail(HypervisorValidateParams, "no kernel there")
        self.assertIn("no kernel there", self.refused(modify(hvparams={"kvm": {"kernel_path": "/k"}}), OpPrereqError))

    def test_address_moves(self) -> None:
        """The address leaves its old interface, with the old settings, before it is taken on the new one, with the new."""
        self.run_op(modify(master_netdev="eth1", master_netmask=24))
        (down, up) = (call for _, call in self.nodes.sent if not isinstance(call, NodeVerify))
        assert isinstance(down, NodeDeactivateMasterIp)
        assert isinstance(up, NodeActivateMasterIp)
        self.assertEqual((down.master_params.netdev, down.master_params.netmask), ("eth0", 32))
        self.assertEqual((up.master_params.netdev, up.master_params.netmask), ("eth1", 24))
        self.assertEqual((self.settings.master_netdev, self.settings.master_netmask), ("eth1", 24))

    def test_interface_is_not_there(self) -> None:
        """The master must have it, unless that is forced or a script cares; of another candidate without it is told."""
        self.nodes.answers[NodeVerify] = lambda node, call: {"interfaces": call.checks["interfaces"]}
        text = self.refused(modify(master_netdev="nosuch0"), OpPrereqError)
        self.assertEqual(
            text,
            "master_netdev: there is no network interface 'nosuch0' on node1.example.com, node2.example.com; "
            "--force sets it all the same",
        )
        self.assertEqual((self.settings.master_netdev, self.stage.feedback), ("eth0", []))
        self.run_op(modify(master_netdev="nosuch0", force=True))
        self.run_op(modify(master_netdev="nosuch1", use_external_mip_script=True))
        self.assertEqual(self.settings.master_netdev, "nosuch1")
        self.nodes.answers[NodeVerify] = lambda node, call: {"interfaces": ["eth7"] if "node2" in node else []}
        self.run_op(modify(master_netdev="eth7", use_external_mip_script=False))
        told = "there is no network interface 'eth7' on node2.example.com, which could not take the cluster's address"
        self.assertIn(told, " ".join(self.stage.feedback))

    def test_address_stays(self) -> None:
        """An address that cannot be given up keeps its settings, unless it is forced."""
        self.nodes.fail(NodeDeactivateMasterIp, "script failed")
        self.assertIn("script failed", self.refused(modify(master_netdev="eth1"), OpExecError))
        self.assertEqual(self.settings.master_netdev, "eth0")
        self.run_op(modify(master_netdev="eth1", force=True))
        self.assertEqual(self.settings.master_netdev, "eth1")
        self.assertIn("may still have", " ".join(self.stage.feedback))

    def test_communication(self) -> None:
        """Its network is made with the change, and is gone again when that fails; the jobs that connect it are told."""
        before = self.stage.snapshot.networks
        self.nodes.fail(NodeDeactivateMasterIp, "script failed")
        both = modify(master_netdev="eth1", instance_communication_network="mesh")
        self.assertIn("script failed", self.refused(both, OpExecError))
        self.assertEqual(self.stage.snapshot.networks, before)
        self.assertEqual(list(self.run_op(modify(instance_communication_network="mesh"))), ["jobs"])
        (made,) = [each for uuid, each in self.stage.snapshot.networks.items() if uuid not in before]
        self.assertEqual((made.name, made.network, made.network6), ("mesh", "169.254.0.0/16", "fe80::/10"))

    def test_netmask(self) -> None:
        """Another netmask alone changes in place; what fails is told with what to do."""
        self.nodes.fail(NodeChangeMasterNetmask, "script failed")
        self.run_op(modify(master_netmask=24))
        self.assertEqual(self.settings.master_netmask, 24)
        self.assertIn("activate-master-ip", self.stage.feedback[-1])

    def test_uid_pool(self) -> None:
        """Ranges are added, and cut out of those that are there."""
        self.run_op(modify(uid_pool=((10, 20),)))
        self.run_op(modify(add_uids=((30, 30),), remove_uids=((12, 13),)))
        self.assertEqual(self.settings.uid_pool, ((10, 11), (14, 20), (30, 30)))

    def test_no_user_ids(self) -> None:
        """What no user id can be is refused."""
        for low, high in ((20, 10), (-1, 5), (10, 2**32)):
            self.assertIn("no range of user ids", self.refused(modify(uid_pool=((low, high),)), OpPrereqError))
        self.run_op(modify(uid_pool=((2**32 - 1, 2**32 - 1),)))

    def test_root(self) -> None:
        """Root's id comes into no pool; one that has it from before can be changed, and be rid of it."""
        for given in ({"uid_pool": ((0, 33),)}, {"uid_pool": ((5, 9), (0, 0))}, {"add_uids": ((0, 1),)}):
            why = self.refused(modify(**given), OpPrereqError)
            self.assertRegex(why, r"uid_pool: 0-(33|0|1) has 0, the id of root.*allowed are 1 to 4294967295")
        self.assertEqual(uid_pool([(0, 33)], None, [(40, 41)], [(0, 0)]), ((1, 33), (40, 41)))
        self.assertEqual(uid_pool([(0, 33)], None, [(40, 41)]), ((0, 33), (40, 41)))

    def test_lists_of_oses(self) -> None:
        """Names are added and removed."""
        self.run_op(modify(hidden_os=((ListAction.ADD, "a"), (ListAction.ADD, "b"))))
        self.run_op(modify(hidden_os=((ListAction.REMOVE, "a"),), blacklisted_os=((ListAction.ADD, "c"),)))
        self.assertEqual((self.settings.hidden_os, self.settings.blacklisted_os), (("b",), ("c",)))

    def test_vain_changes_of_lists(self) -> None:
        """A name that is there already, or is not, is told of, and the rest is done."""
        add, remove = ListAction.ADD, ListAction.REMOVE
        self.run_op(modify(hidden_os=((add, "a"), (add, "a"), (remove, "b")), blacklisted_os=((add, "c"),)))
        self.assertEqual((self.settings.hidden_os, self.settings.blacklisted_os), (("a",), ("c",)))
        self.assertEqual(
            [line for line in self.stage.feedback if "ignoring" in line],
            ["OS a already in hidden OS list, ignoring", "OS b not found in hidden OS list, ignoring"],
        )

    def test_osparams_are_judged(self) -> None:
        """Nodes see what instances would get, public and private, where it becomes another; what they refuse is refused."""
        self.run_op(modify(osparams={"debian": {"a": "1"}}))
        self.run_op(modify(osparams_private_cluster={"debian+lenny": {"b": Private("2")}}))
        self.run_op(modify(osparams={"debian": {"a": "1"}}))
        asked = [(call.os_name, call.osparams, call.required) for call in self.nodes.of_kind(OsValidate)]
        self.assertEqual(
            asked, [*[("debian", {"a": "1"}, False)] * 3, *[("debian+lenny", {"a": "1", "b": "2"}, False)] * 3]
        )
        before = self.settings
        self.nodes.fail(OsValidate, "no parameters a")
        self.assertIn("no parameters a", self.refused(modify(osparams={"debian": {"a": "3"}}), OpPrereqError))
        self.assertEqual(self.settings, before)

    def test_larger_pool(self) -> None:
        """A pool that grows is filled in the same job, with the nodes locked."""
        self.run_op(modify(candidate_pool_size=3))
        self.assertEqual(self.roles(), "C C C")
        self.assertIn("Promoted nodes to master candidate role: node3.example.com", self.stage.feedback)
        self.assertEqual(self.stage.locked["node/[lockset]"], "exclusive")
        self.check_certificates()

    def test_smaller_pool(self) -> None:
        """A pool that shrinks demotes nobody; the operator is told."""
        self.run_op(modify(candidate_pool_size=1))
        self.assertEqual(self.roles(), "C C R")
        self.assertIn("2 master candidates, more than the 1 wanted", self.stage.feedback[-1])

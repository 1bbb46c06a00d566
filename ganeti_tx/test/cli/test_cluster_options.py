"""Each option of gnt-cluster init and modify sets what it is about, and nothing besides."""

import json
from pathlib import Path
from typing import Any, cast

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.cluster.init import init_document
from ganeti_tx.cli.cluster.modify import settings_of
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.parsing import Parsed, option_parser
from ganeti_tx.cli.program import load
from ganeti_tx.model import opcodes as ops

FACTS = json.loads((Path(__file__).parent / "facts" / "cli.json").read_text())["commands"]["gnt-cluster"]["subcommands"]
BOUNDS = "min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1"
LARGE = "max:cpu-count=2,disk-count=1,disk-size=2M,memory-size=2M,nic-count=1,spindle-use=2"
SPECS = {"cpu-count": 1, "disk-count": 0, "disk-size": 4, "memory-size": 4, "nic-count": 0, "spindle-use": 1}
USUAL = "cpu-count=1,disk-count=2,disk-size=4,memory-size=4,nic-count=0,spindle-use=1"
#: About the job, not about the cluster.
COMMON = {"--dry-run", "--force", "--print-jobid", "--priority", "--submit"}
#: What is given, and what comes of it by parameter.
SET: dict[str, tuple[str, str, Any]] = {
    "--add-uids": ("5-7", "add_uids", [[5, 7]]),
    "--backend-parameters": ("memory=1g", "beparams", {"memory": 1024}),
    "--candidate-pool-size": ("3", "candidate_pool_size", 3),
    "--compression-tools": ("gzip,lzop", "compression_tools", ["gzip", "lzop"]),
    "--data-collector-interval": ("lv=1.5", "data_collector_interval", {"lv": 1500000}),
    "--default-iallocator": ("hail", "default_iallocator", "hail"),
    "--default-iallocator-params": ("a=1", "default_iallocator_params", {"a": "1"}),
    "--disk-parameters": ("drbd:metavg=m", "diskparams", {"drbd": {"metavg": "m"}}),
    "--disk-state": ("plain/xenvg:disk_reserved=1", "disk_state", {"plain": {"xenvg": {"disk_reserved": "1"}}}),
    "--drbd-usermode-helper": ("/bin/true", "drbd_helper", "/bin/true"),
    "--enabled-data-collectors": ("lv=no", "enabled_data_collectors", {"lv": False}),
    "--enabled-disk-templates": ("file,plain", "enabled_disk_templates", ["file", "plain"]),
    "--enabled-hypervisors": ("kvm,fake", "enabled_hypervisors", ["kvm", "fake"]),
    "--file-storage-dir": ("/srv/f", "file_storage_dir", "/srv/f"),
    "--gluster-storage-dir": ("/srv/g", "gluster_storage_dir", "/srv/g"),
    "--hypervisor-parameters": ("kvm:acpi=no", "hvparams", {"kvm": {"acpi": False}}),
    "--hypervisor-state": ("kvm:mem_total=1", "hv_state", {"kvm": {"mem_total": "1"}}),
    "--install-image": ("/i", "install_image", "/i"),
    "--instance-communication-network": ("mesh", "instance_communication_network", "mesh"),
    "--ipolicy-disk-templates": ("file", "ipolicy", {"disk-templates": ["file"]}),
    "--ipolicy-spindle-ratio": ("3", "ipolicy", {"spindle-ratio": 3.0}),
    "--ipolicy-std-specs": (USUAL, "ipolicy", {"std": {**SPECS, "disk-count": 2}}),
    "--ipolicy-vcpu-ratio": ("2.5", "ipolicy", {"vcpu-ratio": 2.5}),
    "--mac-prefix": ("aa:00:01", "mac_prefix", "aa:00:01"),
    "--maintain-node-health": ("yes", "maintain_node_health", True),
    "--master-netdev": ("eth1", "master_netdev", "eth1"),
    "--master-netmask": ("24", "master_netmask", 24),
    "--max-running-jobs": ("7", "max_running_jobs", 7),
    "--max-tracked-jobs": ("8", "max_tracked_jobs", 8),
    "--modify-etc-hosts": ("no", "modify_etc_hosts", False),
    "--nic-parameters": ("link=br1", "nicparams", {"link": "br1"}),
    "--node-parameters": ("ssh_port=23", "ndparams", {"ssh_port": 23}),
    "--prealloc-wipe-disks": ("yes", "prealloc_wipe_disks", True),
    "--primary-ip-version": ("6", "primary_ip_version", 6),
    "--remove-uids": ("5-7", "remove_uids", [[5, 7]]),
    "--reserved-lvs": ("a,b", "reserved_lvs", ["a", "b"]),
    "--secondary-ip": ("192.0.2.1", "secondary_ip", "192.0.2.1"),
    "--shared-file-storage-dir": ("/srv/s", "shared_file_storage_dir", "/srv/s"),
    "--ssh-key-bits": ("4096", "ssh_key_bits", 4096),
    "--ssh-key-type": ("ecdsa", "ssh_key_type", "ecdsa"),
    "--uid-pool": ("5-7", "uid_pool", [[5, 7]]),
    "--use-external-mip-script": ("yes", "use_external_mip_script", True),
    "--user-shutdown": ("yes", "enabled_user_shutdown", True),
    "--vg-name": ("xenvg", "vg_name", "xenvg"),
    "--zeroing-image": ("/z", "zeroing_image", "/z"),
}
#: Options without a value.
SWITCHES = {"--no-etc-hosts": ("modify_etc_hosts", False), "--no-ssh-init": ("modify_ssh_setup", False)}
#: What is no part of a policy alone: several of its parts come of it.
OF_POLICY = {
    "--ipolicy-bounds-specs", "--specs-cpu-count", "--specs-disk-count", "--specs-disk-size", "--specs-mem-size",
    "--specs-nic-count",
}  # fmt: skip


def options_of(name: str) -> set[str]:
    """The options of a command by their long spellings, but for those about the job."""
    return {option["long"][0] for option in FACTS[name]["options"]} - COMMON


def given(name: str, *words: str) -> dict[str, Any]:
    """What a command line sets."""
    command = load(program_named("gnt-cluster").commands[name])
    parsed, _words = option_parser("gnt-cluster", name, command).parse_args(list(words))
    options = cast(Parsed, parsed)
    found = init_document("cluster.example.com", options) if name == "init" else settings_of(options)
    return {key: value for key, value in json.loads(json.dumps(found)).items() if value is not None}


class ClusterOptionTests(SynchronousTestCase):
    """Every option of Ganeti's table."""

    maxDiff = None

    def test_each(self) -> None:
        """It sets its parameter and no other; of init, beyond what is set in any case."""
        for name in ("init", "modify"):
            before = given(name)
            for option in options_of(name) - OF_POLICY:
                words: tuple[str, ...] = (option,)
                if option in SWITCHES:
                    parameter, value = SWITCHES[option]
                else:
                    text, parameter, value = SET[option]
                    words = (option, text)
                self.assertEqual(given(name, *words), {**before, parameter: value}, f"{name} {option}")

    def test_bounds(self) -> None:
        """Those of instances."""
        for name in ("init", "modify"):
            (pair,) = given(name, "--ipolicy-bounds-specs", f"{BOUNDS}/{LARGE}")["ipolicy"]["minmax"]
            self.assertEqual((pair["min"], pair["max"]["disk-size"]), (SPECS, 4))
        for option in OF_POLICY & options_of("init") - {"--ipolicy-bounds-specs"}:
            self.assertIn("minmax", given("init", option, "min=1,max=2,std=1")["ipolicy"], option)

    def test_opcode(self) -> None:
        """The opcode takes everything that modify sets."""
        for option in options_of("modify") - OF_POLICY:
            text, parameter, _value = SET[option]
            ops.decode({"OP_ID": "OP_CLUSTER_SET_PARAMS", parameter: given("modify", option, text)[parameter]})

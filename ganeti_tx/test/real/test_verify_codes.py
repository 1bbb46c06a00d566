"""Faults of a devcluster, one for each code of verification that needs no machine of its own (doc/verify-codes.rst)."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.enums import AdminState, DiskTemplate, Hypervisor
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.test.inprocess.verify_faults.fault import cluster_with, node_with
from ganeti_tx.test.inprocess.verify_faults.of_instances import EXCLUSIVE, LARGE, second_secondary
from ganeti_tx.test.inprocess.verify_faults.of_nodes import with_ssh
from ganeti_tx.test.inprocess.verify_faults.places import DEVCLUSTER
from ganeti_tx.test.logic.stage import INSTANCE
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.test_clock_skew import SHIM
from ganeti_tx.test.real.test_devcluster import OS

ADD = f"gnt-instance add -t file -s 64M -o {OS} --no-install --no-name-check --no-ip-check --no-nics --ignore-ipolicy"
#: Another release, for one node daemon; read by Python before anything else, as the clock is.
OTHER_RELEASE = """
import ganeti_tx.model.versions
ganeti_tx.model.versions.RELEASE_VERSION = "0.0.9"
"""
#: Of a group, which no host has.
NOWHERE = "224.0.0.1"


class RealCodesTests(SynchronousTestCase):
    """Four nodes to which much happens."""

    skip = None if commands_are_installed() else "the commands are not installed beside this Python"

    def setUp(self) -> None:
        options = ["--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file,sharedfile"]
        self.cluster = DevClusterUnderTest(options, nodes=4)
        self.addCleanup(self.cluster.close)
        self.nodes = self.cluster.layout.nodes

    def paths(self, number: int) -> Paths:
        """Of a node."""
        return Paths(self.nodes[number - 1].root)

    def write(self, path: Path, text: str | bytes, mode: int = 0o644) -> None:
        """A file in the place of what is there."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)

    def end(self, node: DevNode, daemon: str) -> None:
        """Wait until it has."""
        path = Paths(node.root).pid_file(daemon)
        process = holder(path)
        assert process is not None, daemon
        os.kill(process, signal.SIGTERM)
        while holder(path) == process:
            time.sleep(0.02)

    def start(self, node: DevNode, daemon: str, more: Mapping[str, str]) -> None:
        """In another environment than the others."""
        environment = {**node.environment(os.environ), **more}
        program = Path(sys.executable).parent / daemon
        subprocess.run([str(program)], env=environment, stdin=subprocess.DEVNULL, timeout=60, check=True)

    def found(self) -> set[str]:
        """The codes that verification gives."""
        _, out, err = self.cluster.run(["gnt-cluster", "verify", "--error-codes"])
        self.assertNotIn("Traceback", out + err)
        return set(re.findall(r"- (?:ERROR|WARNING):(E\w+):", out))

    def test_codes(self) -> None:
        """All are told, and none when nothing has happened yet."""
        self.assertEqual(self.found(), set())
        self.befall_instances()
        self.befall_files()
        self.befall_nodes()
        found = self.found()
        self.edit_configuration()
        later = self.found()
        self.assertEqual(set(DEVCLUSTER) - (found | later), set(), (sorted(found), sorted(later)))

    def befall_instances(self) -> None:
        """Two of one kind are on a node, one of them elsewhere, a stranger runs, a disk is lost, a node is offline."""
        for name, node in (("web1", 2), ("web2", 2), ("web4", 4)):
            self.cluster.ok(f"{ADD} -n node{node} {name}.dev.example")
        self.cluster.ok("gnt-instance startup --force-multiple web1.dev.example web2.dev.example web4.dev.example")
        self.cluster.ok("gnt-cluster add-tags htools:iextags:web")
        for name in ("web1", "web2"):
            self.cluster.ok(f"gnt-instance add-tags {name}.dev.example web:1")
        running = [self.paths(number).run_dir / "fake-hypervisor" for number in (1, 2, 3)]
        running[2].mkdir(exist_ok=True)
        shutil.copy(running[1] / "web2.dev.example", running[1] / "ghost.dev.example")
        (running[1] / "web1.dev.example").rename(running[2] / "web1.dev.example")
        (disk,) = (path for path in self.cluster.layout.root.rglob("*.file.disk0") if "web2" in str(path))
        disk.rename(disk.with_name("stray"))
        self.cluster.ok("gnt-node modify --offline=yes --force node4")

    def befall_files(self) -> None:
        """Keys, certificates, copies, lists and definitions are not what they were."""
        self.write(self.paths(1).rapi_pem, "nonsense")
        self.write(self.paths(2).hmac_key, "another")
        self.write(self.paths(2).client_pem, self.paths(3).client_pem.read_bytes(), 0o440)
        self.write(self.paths(2).file_storage_paths_file, "/etc\n")
        self.write(self.paths(2).etc_hosts, f"192.0.2.77 {self.nodes[2].name}\n")
        self.write(self.paths(3).config_file, "{}")
        definitions = self.paths(2).os_search_path[0]
        shutil.copytree(definitions / OS.partition("+")[0], definitions / "extra")
        script = self.paths(2).hooks_dir / "cluster-verify-post.d" / "check"
        self.write(script, "#!/bin/sh\necho the fan is loud; exit 1\n", 0o755)

    def befall_nodes(self) -> None:
        """One is in another group, and has another clock and release; programs are set that are not there."""
        self.cluster.ok("gnt-group add rack2")
        self.cluster.ok("gnt-group assign-nodes rack2 node3")
        shim = self.cluster.directory / "shim"
        self.write(shim / "sitecustomize.py", SHIM + OTHER_RELEASE)
        self.end(self.nodes[2], "ganeti-noded")
        self.start(self.nodes[2], "ganeti-noded", {"PYTHONPATH": str(shim)})
        for setting in (
            "--node-parameters oob_program=/nosuch",
            "--modify-etc-hosts=yes",
            "--use-external-mip-script=yes",
        ):
            self.cluster.ok(f"gnt-cluster modify {setting}")

    def edit_configuration(self) -> None:
        """What no command would do: by an editor, while the master daemon does not run; and one node is out of reach."""
        self.end(self.nodes[0], "ganeti-master")
        place = self.paths(1).config_file
        place.write_bytes(encode(broken(decode(place.read_bytes()))))
        self.start(self.nodes[0], "ganeti-master", {})
        self.end(self.nodes[2], "ganeti-noded")


def broken(config: ConfigData) -> ConfigData:
    """There is a mirrored instance that fits nowhere, a node in no group, an instance on no node, and roots have keys."""
    lost = {
        name: replace(each, primary_node="lost-uuid") for name, each in config.instances.items() if "web2" in each.name
    }
    three = {uuid: node for uuid, node in config.nodes.items() if not node.name.startswith("node4.")}
    kept = second_secondary(replace(config, nodes=three))
    mirrored = replace(
        kept.instances[INSTANCE.uuid],
        admin_state=AdminState.UP,
        beparams=LARGE,
        hypervisor=Hypervisor.KVM,
        hvparams={"kernel_path": "/nosuch"},
    )
    config = replace(
        config, instances={**config.instances, **lost, INSTANCE.uuid: mirrored}, disks={**config.disks, **kept.disks}
    )
    for change in (
        node_with(4, group="lost-uuid"),
        node_with(2, secondary_ip=NOWHERE),
        with_ssh,
        cluster_with(
            candidate_pool_size=0,
            enabled_hypervisors=(Hypervisor.FAKE, Hypervisor.KVM),
            ndparams=EXCLUSIVE,
            enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.DRBD),
            volume_group_name="xenvg",
        ),
    ):
        config = change(config)
    return replace(config, serial_no=config.serial_no + 1)

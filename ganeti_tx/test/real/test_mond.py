"""The monitoring daemon as a process beside the others, on this machine; and with a real QEMU."""

import http.client
import json
import os
import signal
import socket
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from twisted.internet import reactor
from twisted.trial.unittest import SynchronousTestCase, TestCase

from ganeti_tx.mond.inst_status_kvm import KvmInstances
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.processes import LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import UnixQmpConnector
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode
from ganeti_tx.test.real.programs import LIMIT, SmallCluster, until

PORT = 1815
KVM_WITHOUT_KERNEL = "kvm:kernel_path=,kvm_flag=disabled"
INSTANCE = (
    *("-n", "node1.dev.example", "-o", "busybox+default", "-t", "diskless", "--no-install", "-H", "kvm"),
    *("--no-name-check", "--no-ip-check", "web1.dev.example"),
)
ACTIVE = ["cpu-avg-load", "diskstats", "drbd", "inst-status-kvm"]


class DaemonTests(SynchronousTestCase):
    """A cluster of one node with a KVM instance that is down, its configuration daemon and its monitoring daemon.

    Making it takes longer than looking at it, so that there is one test only.
    """

    def setUp(self) -> None:
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.cluster.must("gnt-cluster", "modify", "--enabled-hypervisors=fake,kvm", "-H", KVM_WITHOUT_KERNEL)
        self.cluster.must("gnt-instance", "add", *INSTANCE)
        for daemon in ("ganeti-confd", "ganeti-mond"):
            if (self.cluster.node.root / f"var/run/ganeti/{daemon}.pid").exists():
                self.cluster.end(daemon, signal.SIGTERM)
            self.cluster.must(daemon)

    def test_life(self) -> None:
        """It tells all there is, to whoever reaches the node's own address, whoever else is there and is gone."""
        self.tells()
        self.listens_once()
        self.bears_a_crowd()
        self.goes_on()

    def get(self, path: str, address: str | None = None) -> tuple[int, bytes]:
        """Status and body of an answer."""
        connection = http.client.HTTPConnection(address or self.cluster.node.address, PORT, timeout=LIMIT)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        """An answer that must be good."""
        status, body = self.get(path)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def names(self) -> list[str]:
        """The active collectors."""
        return [name for name, _, _ in self.json("/1/list/collectors")]

    def metrics(self) -> dict[str, float]:
        """The samples without labels, and those of the daemon itself."""
        families = text_string_to_metric_families(self.get("/metrics")[1].decode())
        return {each.name: each.value for family in families for each in family.samples if len(each.labels) < 2}

    def listens_once(self) -> None:
        """It listens on the node's own address only."""
        self.assertRaises(ConnectionRefusedError, self.get, "/", "127.0.0.1")

    def bears_a_crowd(self) -> None:
        """Connections that say nothing, and such that talk nonsense, keep nobody out."""
        crowd = [socket.create_connection((self.cluster.node.address, PORT)) for _ in range(200)]
        for number, each in enumerate(crowd):
            self.addCleanup(each.close)
            if number % 2:
                try:
                    each.sendall(os.urandom(64) if number % 4 == 1 else b"GET /1/report/all HTTP/1.1\r\nX: ")
                except OSError:
                    continue  # sent away already
        self.assertEqual(self.json("/"), [1])

    def tells(self) -> None:
        """Every report comes, with what the configuration says of this node's instance; so do the metrics."""
        self.assertEqual(self.json("/"), [1])
        reports = {each["name"]: each["data"] for each in self.json("/1/report/all")}
        self.assertEqual(list(reports), [*ACTIVE, "lv"])
        self.assertEqual(list(reports["cpu-avg-load"]), ["error"])
        self.assertEqual(reports["diskstats"][0].keys() & {"major", "minor", "name"}, {"major", "minor", "name"})
        [instance] = reports["inst-status-kvm"]["instances"]
        self.assertEqual(
            (instance["name"], instance["adminState"], instance["actualState"], instance["status"]["code"]),
            ("web1.dev.example", "down", "down", 0),
        )
        until(lambda: "ganeti_host_memory_bytes" in self.metrics(), "its first look at the node")
        found = self.metrics()
        for name in ("ganeti_host_memory_bytes", "ganeti_host_cpus", "ganeti_process_resident_memory_bytes"):
            self.assertGreater(found[name], 0)

    def goes_on(self) -> None:
        """A new setting of the cluster is heard of; then all goes on without the master, and without confd."""
        self.cluster.must(
            "gnt-cluster", "modify", "--enabled-data-collectors=lv=no", "--data-collector-interval=drbd=1"
        )
        until(lambda: self.names() == ACTIVE, "the new setting")
        self.assertEqual(self.get("/1/report/storage/lv")[0], 404)
        for daemon, number in (("ganeti-master", signal.SIGKILL), ("ganeti-confd", signal.SIGTERM)):
            self.cluster.end(daemon, number)
            before = self.json("/1/report/storage/drbd")["timestamp"]
            until(lambda: self.json("/1/report/storage/drbd")["timestamp"] > before, "one more report")  # noqa: B023
            self.assertEqual(self.names(), ACTIVE)
        [instance] = self.json("/1/report/instance/inst-status-kvm")["data"]["instances"]
        self.assertEqual(instance["name"], "web1.dev.example")


class KvmTests(TestCase):
    """Instances that never get further than their firmware."""

    timeout = 300

    async def test_seen(self) -> None:
        """A real QEMU is seen running while its process is there; one that keeps its instance is asked itself."""
        node = KvmNode()
        self.addCleanup(node.clear)
        processes: Any = LinuxQemuProcesses(reactor)
        monitors = Monitors(UnixQmpConnector(node.reactor, node.clock))
        instances = KvmInstances(OwnMachines(node.paths, node.files, processes, monitors), node.clock)
        self.assertEqual(await instances.seen(), {})
        driver = node.driver()
        for user_shutdown in (False, True):
            await driver.start(kvm_spec(vcpus=1, kvm_flag="disabled", user_shutdown=user_shutdown), [])
            seen = (await instances.seen())[NAME]
            self.assertEqual(seen.state, "running")
            self.assertRegex(seen.uptime or "", r"^0:0\d:\d\d$")
            await driver.stop(NAME, 0.0, force=True)
            self.assertEqual(await instances.seen(), {})

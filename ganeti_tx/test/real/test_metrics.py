"""The metrics of a real cluster, fetched over TLS as Prometheus does."""

import os
import signal
import ssl
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.bootstrap.start import running
from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.metrics.rapi import REQUESTS
from ganeti_tx.metrics.table import METRICS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import cluster_with, commands_are_installed
from ganeti_tx.test.real.programs import until
from ganeti_tx.test.real.rapi_daemon import PASSWORD, PORT, USER, RapiUnderTest

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
#: Who may look at the metrics, and at nothing else.
WATCHER, SECRET = "prometheus", "watching"
#: Seconds that Prometheus waits for a page.
SCRAPE_LIMIT = 10.0

Samples = dict[tuple[str, ...], float]


class MetricsTests(TestCase):
    """One devcluster with its Remote API."""

    timeout = 300

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = cluster_with(("--enabled-hypervisors=fake",))
        self.api = RapiUnderTest(self.cluster)
        with self.api.paths.rapi_users_file.open("a") as users:
            users.write(f"{WATCHER} {SECRET} metrics:GET\n")
        until(lambda: self.get("/metrics", WATCHER, SECRET)[0] == 200, "the user who watches")

    def get(self, path: str, user: str = "", password: str = "", accept: str = "*/*") -> tuple[int, str, str]:
        """Status, Content-Type and body."""
        request = urllib.request.Request(f"https://{self.api.host}:{PORT}{path}", headers={"Accept": accept})
        if user:
            request.add_header("Authorization", "Basic " + b64encode(f"{user}:{password}".encode()).decode())
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=SCRAPE_LIMIT, context=context) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def samples(self, accept: str = "*/*") -> Samples:
        """Every sample of the page by its name and its labels' values in order."""
        status, kind, text = self.get("/metrics", WATCHER, SECRET, accept)
        self.assertEqual(status, 200, text)
        self.assertTrue(kind.startswith("application/openmetrics-text" if accept == OPENMETRICS else "text/plain"))
        families: Any = (parse_openmetrics if accept == OPENMETRICS else parse_text)(text)
        return {(each.name, *sorted(each.labels.values())): each.value for each in flat(families)}

    def value(self, *key: str) -> float:
        """One sample; 0 when it is not there."""
        return self.samples().get(key, 0.0)

    @contextmanager
    def stopped(self, node: DevNode, daemon: str) -> Iterator[None]:
        """A daemon that stands still meanwhile."""
        process = running(Paths(node.root), daemon)
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    def test_page(self) -> None:
        """Both formats can be read, and everything that a healthy cluster tells is known."""
        nodes = [node.name for node in self.cluster.layout.nodes]
        self.cluster.ok(f"gnt-debug delay -n {nodes[1]} 0.1")
        for accept in ("*/*", OPENMETRICS):
            found = self.samples(accept)
            self.assertEqual(found["ganeti_up",], 1)
            self.assertEqual(found["ganeti_wconfd_up",], 1)
            self.assertEqual([found["ganeti_node_up", name] for name in nodes], [1, 1, 1])
            self.assertGreater(found["ganeti_config_serial",], 1)
            self.assertGreater(found["ganeti_node_memory_bytes", nodes[0]], 2**27)
            for daemon in ("ganeti-master", "ganeti-rapi"):
                self.assertGreater(found["ganeti_process_resident_memory_bytes", daemon], 2**23)
                self.assertLess(abs(found["ganeti_process_start_time_seconds", daemon] - time.time()), 86400)
            self.assertGreaterEqual(found["ganeti_node_call_seconds_count", nodes[1], "test_delay"], 1)
            names = {key[0] for key in found}
            self.assertEqual({name for name in names if not is_known(name)}, set())

    def test_jobs(self) -> None:
        """A job that ends is counted, and so are its locks and the request that submitted it."""
        ended, submitted = ("ganeti_jobs_ended_total", "TEST_DELAY", "success"), ("ganeti_jobs_submitted_total",)
        before = self.samples()
        self.cluster.ok("gnt-debug delay 0.1")
        until(lambda: self.value(*ended) > before.get(ended, 0), "the end to be counted")
        after = self.samples()
        for key in (ended, submitted, ("ganeti_luxi_request_seconds_count", "SubmitJob")):
            self.assertEqual(after[key] - before.get(key, 0), 1, key)
        granted = ("ganeti_lock_wait_seconds_count", "cluster", "granted")
        self.assertGreater(after[granted], before.get(granted, 0))

    def test_access(self) -> None:
        """Nobody without a name looks, who may look may do nothing else, and who may read may look."""
        self.assertEqual(self.get("/metrics")[0], 401)
        self.assertEqual(self.get("/metrics", WATCHER, "wrong")[0], 401)
        self.assertEqual(self.get("/2/query/node?fields=name", WATCHER, SECRET)[0], 403)
        self.assertEqual(self.get("/metrics", USER, PASSWORD)[0], 200)
        self.assertGreaterEqual(self.value(REQUESTS.name, "401", "GET", "metrics"), 2)

    def test_node_is_silent(self) -> None:
        """A node that stands still is down; the page comes in time."""
        node = self.cluster.layout.nodes[2]
        with self.stopped(node, "ganeti-noded"):
            until(lambda: self.samples()["ganeti_node_up", node.name] == 0, "the node to be missed")
        until(lambda: self.samples()["ganeti_node_up", node.name] == 1, "the node to be back")

    def test_master_is_silent(self) -> None:
        """While the master daemon stands still or is gone the Remote API tells of itself, in time."""
        master = self.cluster.layout.master
        with self.stopped(master, "ganeti-master"):
            found = self.samples()
            self.assertEqual(found["ganeti_up",], 0)
            self.assertNotIn(("ganeti_config_serial",), found)
            self.assertIn(("ganeti_process_resident_memory_bytes", "ganeti-rapi"), found)
        until(lambda: self.value("ganeti_up") == 1, "the master daemon to be back")

    def test_process_of_a_job_dies(self) -> None:
        """A process that is killed in the midst of its job is counted, and its job has failed."""
        before = self.samples()
        _, _, told = self.cluster.run(["gnt-debug", "delay", "--submit", "60"])
        job_id = told.split()[-1]
        path = Paths(self.cluster.layout.master.root).job_file(int(job_id))
        until(lambda: '"running"' in path.read_text(), "the job to run")
        self.cluster.run(["gnt-job", "cancel", "--kill", "--yes-do-it", job_id])
        key = ("ganeti_job_runners_died_total",)
        until(lambda: self.value(*key) == before[key] + 1, "the death to be seen")
        canceled = ("ganeti_jobs_ended_total", "TEST_DELAY", "canceled")
        until(lambda: self.value(*canceled) == before.get(canceled, 0) + 1, "the end to be counted")


def flat(families: Any) -> Iterator[Any]:
    """Every sample."""
    return (sample for family in families for sample in family.samples)


def is_known(sample: str) -> bool:
    """Whether a sample belongs to a metric of the table."""
    stems = {sample, *(sample.removesuffix(ending) for ending in ("_bucket", "_sum", "_count"))}
    return bool(stems & METRICS.keys())

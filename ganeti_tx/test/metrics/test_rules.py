"""The shipped alert rules speak of metrics and labels that exist."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metrics.jobs import OLDEST
from ganeti_tx.metrics.metric import Histogram
from ganeti_tx.metrics.table import METRICS
from ganeti_tx.mond.metrics import METRICS as OF_NODES
from ganeti_tx.rapi.resources.metrics import ANSWER_LIMIT

ETC = Path(__file__).parents[3] / "etc" / "prometheus"
KNOWN = {**OF_NODES, **METRICS}
#: Labels that Prometheus adds by itself, or as the example tells it to.
ADDED = {"cluster", "instance", "job", "le"}
NAME = re.compile(r"\bganeti_\w+\b")


def series_of(name: str) -> set[str]:
    """The names of the samples that a metric gives."""
    if isinstance(KNOWN[name], Histogram):
        return {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    return {name}


class RuleTests(SynchronousTestCase):
    """etc/prometheus."""

    if not ETC.is_dir():
        skip = f"there is no {ETC}: this is no checkout"

    def setUp(self) -> None:
        self.rules = (ETC / "ganeti.rules.yml").read_text()
        self.samples = {sample: KNOWN[name] for name in KNOWN for sample in series_of(name)}

    def expressions(self) -> list[str]:
        """The conditions of all rules."""
        found = re.findall(r"^ +expr: (?:>-\n)?((?:.|\n {10} *)+)", self.rules, re.MULTILINE)
        self.assertEqual(len(found), self.rules.count("- alert:"))
        return found

    def test_metrics_exist(self) -> None:
        """Every metric that a rule names is one that we show."""
        named = set(NAME.findall("\n".join(self.expressions())))
        self.assertGreater(len(named), 10)
        self.assertEqual(named - self.samples.keys(), set())

    def test_labels_exist(self) -> None:
        """A rule selects by labels that the metric has, and shows those that it keeps."""
        for expression in self.expressions():
            for name, selectors in re.findall(r"(ganeti_\w+)\{([^}]*)\}", expression):
                labels = set(re.findall(r"(\w+)\s*=", selectors))
                self.assertEqual(labels - set(self.samples[name].labels) - ADDED, set(), expression)
            for grouping in re.findall(r"by \(([^)]*)\)", expression):
                metrics = [self.samples[name] for name in NAME.findall(expression)]
                labels = {label for metric in metrics for label in metric.labels}
                self.assertEqual(set(re.split(r",\s*", grouping)) - labels - ADDED, set(), expression)

    def test_statuses_exist(self) -> None:
        """What the queue's rule looks at is a status of jobs that has an age."""
        self.assertIn('status="queued"', self.rules)
        self.assertEqual(OLDEST.labels, ("status",))

    def test_what_must_be_watched(self) -> None:
        """The master, the queue, the locks and the nodes each have a rule."""
        alerts = set(re.findall(r"- alert: (\w+)", self.rules))
        self.assertLessEqual(
            {"GanetiMasterAway", "GanetiQueueOld", "GanetiLockWait", "GanetiNodeAway", "GanetiRemoteApiAway"}, alerts
        )

    def test_time(self) -> None:
        """Prometheus waits longer than the page takes at most."""
        (timeout,) = re.findall(r"scrape_timeout: (\d+)s", (ETC / "prometheus.yml").read_text())
        self.assertGreater(int(timeout), ANSWER_LIMIT)

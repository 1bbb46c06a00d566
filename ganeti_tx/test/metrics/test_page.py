"""The page that Prometheus reads, read back by its own parsers."""

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name
from ganeti_tx.metrics.page import page
from ganeti_tx.metrics.tally import Tally

CALLS = Counter("ganeti_calls_total", "Calls.", ("node",))
LENGTH = Gauge("ganeti_length", "Length of the queue.")
WAIT = Histogram("ganeti_wait_seconds", "Wait.", ("node",), bounds=(0.1, 1.0))
NEVER = Gauge("ganeti_never", "Never set.")
KNOWN = by_name([CALLS, LENGTH, WAIT, NEVER])
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def recorded() -> Tally:
    """One of each."""
    tally = Tally()
    tally.count(CALLS, 'a"b\\c\n')
    tally.set(LENGTH, 3)
    for seconds in (0.05, 0.5, 0.6, 7.0):
        tally.observe(WAIT, seconds, "node1")
    return tally


class PageTests(SynchronousTestCase):
    """What was recorded is what is read."""

    def samples(self, accept: str) -> dict[tuple[str, str], float]:
        """Each sample of the page by its name and its first label's value."""
        text = page(recorded().readings(), KNOWN, accept).body.decode()
        families = parse_openmetrics(text) if accept else parse_text(text)
        return {
            (each.name, [*each.labels.values(), ""][0]): each.value for family in families for each in family.samples
        }

    def test_both_formats(self) -> None:
        """The text format and OpenMetrics say the same."""
        for accept in ("", OPENMETRICS):
            found = self.samples(accept)
            self.assertEqual(found["ganeti_calls_total", 'a"b\\c\n'], 1)
            self.assertEqual(found["ganeti_length", ""], 3)
            self.assertEqual(found["ganeti_wait_seconds_count", "node1"], 4)
            self.assertAlmostEqual(found["ganeti_wait_seconds_sum", "node1"], 8.15)

    def test_buckets_rise(self) -> None:
        """Each bucket of a histogram counts those below it, too."""
        text = page(recorded().readings(), KNOWN).body.decode()
        buckets = [
            line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith("ganeti_wait_seconds_bucket")
        ]
        self.assertEqual(buckets, ["1.0", "3.0", "4.0"])

    def test_format_by_accept(self) -> None:
        """OpenMetrics is sent to who asks for it, the text format to everybody else."""
        readings = recorded().readings()
        self.assertTrue(page(readings, KNOWN, OPENMETRICS).content_type.startswith("application/openmetrics-text"))
        for accept in ("", "*/*", "text/html,*/*;q=0.8", ";;,,=\x00"):
            self.assertTrue(page(readings, KNOWN, accept).content_type.startswith("text/plain"), accept)

    def test_absent(self) -> None:
        """A metric without a series is not on the page: no value is not zero."""
        self.assertNotIn("ganeti_never", page(recorded().readings(), KNOWN).body.decode())

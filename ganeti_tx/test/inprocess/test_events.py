"""The events of a whole cluster, as LUXI tells them."""

import json
from typing import Any

from ganeti_tx.test.inprocess.case import ClusterCase, delay

ADD = "gnt-instance add -t file -s 1G -o noop -n node2 web1"
NAME = "web1.example.com"


class EventTests(ClusterCase):
    """WaitForEvents."""

    def setUp(self) -> None:
        super().setUp()
        self.client = self.luxi()
        self.place = self.ask(None)[1]

    def ask(self, after: str | None, *filters: Any, timeout: int = 0) -> tuple[list[dict[str, Any]], str, str | None]:
        """The events after an id, where to go on, and the gap."""
        kinds, objects = filters or (None, None)
        events, last, gap = self.client.call("WaitForEvents", [after, kinds, objects, timeout, 1000])
        return [event for _id, event in events], last, gap

    def test_instance_is_added(self) -> None:
        """The job's way to its end with its messages, and the instance, each once and in an order that makes sense."""
        self.ok(ADD)
        self.cluster.pass_time(5)
        events, _, _ = self.ask(self.place)
        jobs = [event for event in events if event["kind"] == "job"]
        self.assertEqual((jobs[0]["change"], jobs[0]["summary"]), ("received", ["INSTANCE_CREATE(web1)"]))
        self.assertEqual([jobs[0]["status"], jobs[-1]["status"]], ["queued", "success"])
        self.assertIn(["instance", "web1"], jobs[0]["about"])
        messages = [event for event in events if event["kind"] == "log"]
        self.assertIn("* starting instance...", [event["text"] for event in messages])
        steps = [json.loads(event["text"])["title"] for event in messages if event["type"] == "step"]
        self.assertEqual((len(steps), steps[0], steps[-1]), (4, "create disk/0", "start the instance"))
        serials = [event["serial"] for event in messages]
        self.assertEqual(serials, list(range(1, len(serials) + 1)))
        (added,) = [event for event in events if event["kind"] == "instance" and event["change"] == "added"]
        self.assertEqual(added["name"], NAME)

    def test_waits(self) -> None:
        """Who waits for an instance is answered when it changes."""
        self.ok(ADD)
        self.cluster.pass_time(5)
        place = self.ask(None)[1]
        self.client.submit_job(
            [{"OP_ID": "OP_TAGS_SET", "kind": "instance", "name": NAME, "tags": ["x"], "reason": []}]
        )
        ((event,), _, _) = self.ask(place, ["instance"], ["web1"], timeout=60)
        self.assertEqual((event["change"], event["fields"]), ("changed", ["tags"]))

    def test_runs_while_luxid_is_away(self) -> None:
        """The next luxid says that events are missing, and follows the jobs that it finds."""
        job_id = self.client.submit_job([delay(20.0)])
        self.cluster.pass_time(5)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.client = self.luxi()
        events, place, gap = self.ask(self.place)
        self.assertEqual((events, gap), ([], "restart"))
        self.cluster.pass_time(30)
        told = [(event["kind"], event["job"], event["status"]) for event in self.ask(place, ["job", "opcode"], None)[0]]
        self.assertEqual(told, [("opcode", job_id, "success"), ("job", job_id, "success")])

"""Queries and names as programs use them: over the Remote API, and in jobs."""

from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.test.inprocess.test_rapi import WEB, RapiCase


class QueryTests(RapiCase):
    """A cluster with an instance and a network."""

    def setUp(self) -> None:
        super().setUp()
        self.make_network()
        self.make_instance()

    def uuids(self) -> dict[str, str]:
        """The uuid of one thing of each kind."""
        config = self.cluster.config
        kinds = {
            "instances": config.instances,
            "nodes": config.nodes,
            "groups": config.nodegroups,
            "networks": config.networks,
        }
        return {kind: next(iter(sorted(held))) for kind, held in kinds.items()}

    def test_names(self) -> None:
        """Each thing is the same under its name, a short one, and its uuid."""
        for kind, uuid in self.uuids().items():
            whole = self.send("GET", f"/2/{kind}/{uuid}")
            self.assertEqual(whole["uuid"], uuid)
            for name in {whole["name"], whole["name"].split(".")[0]}:
                self.assertEqual(self.send("GET", f"/2/{kind}/{name}")["uuid"], uuid, name)

    def test_opcodes(self) -> None:
        """A job takes them as well."""
        uuid = self.uuids()["instances"]
        for name in (uuid, "web1", WEB):
            self.done("PUT", f"/2/instances/{name}/shutdown")
            self.assertEqual(self.cluster.running(), {})
            self.done("PUT", f"/2/instances/{name}/startup")
            self.assertEqual(len(self.cluster.running()), 1)

    def test_query(self) -> None:
        """Fields by either spelling, live ones, and filters; what does not fit is told with operator, field and value."""
        found = self.send("GET", "/2/query/instance?fields=name,beparam/vcpus,be/vcpus,oper_state,nosuch")
        self.assertEqual([each["kind"] for each in found["fields"]], ["text", "number", "number", "bool", "unknown"])
        ((name, spelled, proper, runs, unknown),) = found["data"]
        self.assertEqual((name, runs, unknown, spelled), ([0, WEB], [0, True], [1, None], proper))
        body = {"fields": ["name"], "qfilter": ["&", ["?", "oper_state"], ["=~", "name", "^web"]]}
        self.assertEqual(self.send("PUT", "/2/query/instance", body)["data"], [[[0, WEB]]])
        body["qfilter"] = ["<", "tags", 1]
        with self.assertRaises(HttpError) as raised:
            self.send("PUT", "/2/query/instance", body)
        self.assertIn("operator < with 1: field 'tags' holds a list", str(raised.exception))

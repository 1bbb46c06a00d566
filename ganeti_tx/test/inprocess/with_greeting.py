"""What a setting has that is declared: run by test_new_setting in a copy of the program to which `greeting` was added."""

import json
from typing import Any

import msgspec

from ganeti_tx.bootstrap.cluster_settings import check_params, cluster_settings
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import read_settings
from ganeti_tx.config.upgrade import read_config
from ganeti_tx.model.config_data import encode
from ganeti_tx.rapi_client.records.cluster import ClusterInfo
from ganeti_tx.test.cli.fakes import CommandLine
from ganeti_tx.test.inprocess.test_rapi import RapiCase
from ganeti_tx.test.rapi.calls import found


class GreetingTests(RapiCase):
    """Every place where settings are."""

    def greeting(self) -> Any:
        """As the cluster has it."""
        cluster: Any = self.cluster.config.cluster
        return cluster.greeting

    def new_cluster_of(self, *words: str) -> Any:
        """What `gnt-cluster init` writes for the setting, and what it objects to."""
        cli = CommandLine()
        outcome = cli("gnt-cluster", "init", *words, "c1.example.com")
        self.assertEqual(outcome, (0, "", ""))
        document = cli.programs[-1][1]
        assert document is not None
        problems = Problems()
        settings = read_settings(document)
        return cluster_settings(settings, check_params(settings, problems))["greeting"], problems.found

    def test_init(self) -> None:
        """It can be chosen for a new cluster, and has its default there."""
        self.assertEqual(self.new_cluster_of("--greeting=hello"), ("hello", []))
        self.assertEqual(self.new_cluster_of(), ("good day", []))
        self.assertEqual(self.new_cluster_of("--greeting=hell")[1], ["greeting: 'hell' is not allowed"])

    def test_defaults(self) -> None:
        """A configuration of an older version gets its default."""
        raw = json.loads(encode(self.cluster.config))
        del raw["cluster"]["greeting"]
        raw["version"] = 2160000
        held: Any = read_config(json.dumps(raw).encode()).config.cluster
        self.assertEqual(held.greeting, "good day")

    def test_modify(self) -> None:
        """It is changed and shown by commands, and checked."""
        self.ok("gnt-cluster modify --greeting=hello")
        self.assertEqual(self.greeting(), "hello")
        self.assertIn("\n  greeting of guests: hello\n", self.ok("gnt-cluster info"))
        self.assertIn("--greeting", self.ok("gnt-cluster modify --help"))
        self.fails("gnt-cluster modify --greeting=hell", "greeting: 'hell' is not allowed")

    def test_luxi(self) -> None:
        """Programs on the master read it, with all others or alone."""
        self.assertEqual(self.luxi().query_cluster_info()["greeting"], "good day")
        self.assertEqual(self.luxi().query_config_values(["greeting"]), ["good day"])

    def test_rapi(self) -> None:
        """Programs elsewhere change and read it, as the schemas tell them; `send` holds answers against those."""
        self.done("PUT", "/2/modify", {"greeting": "hello"})
        told = self.send("GET", "/2/info")
        self.assertEqual(told["greeting"], "hello")
        self.assertIn("greeting", found("PUT", "/2/modify")[0].body["properties"])  # type: ignore[index]
        record: Any = msgspec.convert(json.loads(msgspec.json.encode(told)), ClusterInfo)
        self.assertEqual(record.greeting, "hello")

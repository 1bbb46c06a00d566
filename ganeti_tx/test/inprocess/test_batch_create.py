"""Making several instances at once, by `gnt-instance batch-create` and over the Remote API's opcode."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

SECRET, PRIVATE = "s3cret-of-nobody", "pr1vate-of-web"


def web(number: int, **more: Any) -> dict[str, Any]:
    """One instance of a file."""
    return {
        "instance_name": f"web{number}.example.com",
        "mode": "create",
        "disk_template": "file",
        "disks": [{"size": "1G"}],
        "nics": [{}],
        "os_type": "noop",
        "name_check": False,
        "ip_check": False,
        **more,
    }


class BatchCreateTests(ClusterCase):
    """`gnt-instance batch-create`."""

    def file(self, content: Any) -> str:
        """A file that holds it."""
        path = Path(self.mktemp())
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def batch(self, content: Any, *options: str) -> tuple[int, str, str]:
        """What came of it."""
        return self.scene().run(["gnt-instance", "batch-create", *options, self.file(content)])

    def test_nodes_given(self) -> None:
        """Each is made by its own job, what it prints is shown, and all is told as done."""
        status, out, err = self.batch([web(1, pnode="node2"), web(2, pnode="node3", no_install=True)])
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^Submitted jobs \d+, \d+$")
        self.assertRegex(out, r"(?m)^Waiting for job \d+ \.\.\.$")
        self.assertTrue(out.endswith("All instances created successfully.\n"), out)
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1.example.com"]})
        self.assertEqual({each.size for each in self.cluster.config.disks.values()}, {1024})

    def test_there_already(self) -> None:
        """The job of each says so; the others are made."""
        self.ok("gnt-instance add -t diskless -o noop --no-name-check --no-ip-check -n node1 web1.example.com")
        status, out, err = self.batch([web(1, pnode="node2"), web(2, pnode="node2")])
        self.assertEqual(status, 1)
        self.assertIn("There were 1 errors during the creation.", out)
        self.assertRegex(err, r"Job \d+ has failed: Failure: prerequisites not met[^\0]*already in the cluster")
        self.assertEqual(len(self.cluster.config.instances), 2)

    def test_files_that_are_none(self) -> None:
        """Each is refused before anything is submitted, with what is wrong with it."""
        for content, text in (
            ("nonsense", "Can't parse the instance definition file: Expecting value: line 1 column 1 (char 0)"),
            ({"web1": {}}, "The instance definition file is not List of Dictionary"),
            ([web(1), 5], "The instance definition file is not List of Dictionary"),
            ([web(1, nosuch=1)], "Unknown fields in definition 0: nosuch"),
            ([web(1, pnode="node2"), web(2, pnode="node2", mode="bogus")], "instances[1].mode: expected one of"),
            ([web(1, pnode="node2"), web(2, pnode="node2", disks=[{"size": "lots"}])], "disk/0"),
            ([], "no instances are given"),
        ):
            status, _out, err = self.batch(content)
            self.assertEqual(status, 1, text)
            self.assertIn(text, err)
        status, _out, err = self.scene().run(["gnt-instance", "batch-create", "/nowhere/file.json"])
        self.assertEqual(status, 1)
        self.assertIn("Can't parse the instance definition file: Cannot read '/nowhere/file.json'", err)
        self.assert_nothing_left(self.cluster)

    def test_dry_run(self) -> None:
        """Nothing is made."""
        self.assertEqual(self.batch([web(1, pnode="node2")], "--dry-run")[0], 0)
        self.assert_nothing_left(self.cluster)

    def test_submitted_only(self) -> None:
        """--submit tells the job that submits the others."""
        status, out, err = self.batch([web(1, pnode="node2")], "--submit")
        self.assertRegex(out + err, r"JobID: \d+")
        self.cluster.pass_time(30)
        self.assertEqual((status, len(self.cluster.config.instances)), (0, 1))

    def test_chosen(self) -> None:
        """An allocator chooses for all; who finds no place is named, and the exit status tells."""
        master = self.cluster.master
        program = self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        master.scripts.script([str(program)], self.choose)
        status, out, err = self.batch([web(1), web(2), web(3)], "-I", "choose")
        self.assertEqual(status, 1)
        self.assertIn("Selected nodes for instance web1.example.com via iallocator choose: node2.example.com", out)
        self.assertIn("No nodes were found for web3.example.com", err)
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1.example.com", "web2.example.com"]})

    def choose(self, call: Call) -> ProcessResult:
        """Run the allocator, which has no room for the last one."""
        request = json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))["request"]
        *some, last = [each["name"] for each in request["instances"]]
        answer = [[[name, ["node2.example.com"]] for name in some], [last]]
        return ProcessResult(stdout=json.dumps({"success": True, "info": "", "result": answer}).encode())

    def watch_for(self, text: str) -> list[str]:
        """From now on: the files of any node in which it was ever written."""
        found: list[str] = []

        def look(disk: MemoryFiles, path: Path) -> None:
            if path in disk.find(text.encode()):
                found.append(str(path))

        for node in self.cluster.members:
            node.disk.listeners.append(partial(look, node.disk))
        return found

    def test_secrets(self) -> None:
        """Secret parameters reach the installation, and stand in no file of any node; private ones are not shown."""
        told, kept = self.watch_for(SECRET), self.watch_for(PRIVATE)
        private, secret = {"osparams_private": {"flavour": PRIVATE}}, {"osparams_secret": {"flavour": SECRET}}
        status, out, err = self.batch([web(1, pnode="node2", **private), web(2, pnode="node3", **secret)])
        self.assertEqual(status, 0, err)
        shown = self.ok("gnt-job info " + self.ok("gnt-job list --no-headers -o id").replace("\n", " "))
        self.assertIn("web2.example.com", shown)
        calls = [call for node in (2, 3) for call in self.cluster.node(node).scripts.calls if "create" in call.argv[0]]
        self.assertEqual([call.env["OSP_FLAVOUR"] for call in calls], [PRIVATE, SECRET])
        self.assertNotIn(SECRET, out + err + shown)
        self.assertNotIn(PRIVATE, out + err + shown)
        self.assertEqual(told, [])
        self.assertIn(str(self.cluster.paths.config_file), kept)

"""What is special about single submissions, and how wrong ones are refused."""

from ganeti_tx.errors import GenericError
from ganeti_tx.test.rapi.calls import RECEIVED, request
from ganeti_tx.test.rapi.case import OperationCase
from ganeti_tx.test.rapi.facts_table import FACTS

WEB = "/2/instances/web1"
NEW = {"__version__": 1, "name": "web1", "mode": "create", "disks": [{"size": 1024}], "nics": [{}]}


class RefusalTests(OperationCase):
    """A wrong body costs the client one clear line, and the cluster nothing."""

    def test_path_of_the_fault(self) -> None:
        """The path of the bad key is told, with what is allowed and what was there."""
        body = NEW | {"disks": [{"size": 1024}, {"size": None}]}
        self.assertEqual(self.refused("POST", "/2/instances", body), "disks[1].size: expected int | str, got null")
        self.assertEqual(
            self.refused("POST", "/2/instances", NEW | {"nics": [{"colour": "red"}]}).partition(", got")[0],
            "nics[0]: wrong key: expected one of bridge, ip, link, mac, mode, name, network, vlan",
        )

    def test_unknown_key(self) -> None:
        """Of an unknown key the allowed ones are told, by the names that clients use."""
        told = self.refused("POST", "/2/instances", NEW | {"flavour": "large"})
        self.assertTrue(told.startswith("unknown parameter 'flavour'; allowed are beparams, comment, "), told)
        self.assertIn(" os,", told)
        self.assertNotIn("os_type", told)
        self.assertNotIn("dry_run", told)

    def test_renamed_parameters(self) -> None:
        """A refusal names a parameter as the client did."""
        self.assertEqual(self.refused("POST", "/2/instances", NEW | {"os": 5}), "os: expected str | null, got 5")
        nameless = {key: value for key, value in NEW.items() if key != "name"}
        self.assertEqual(self.refused("POST", "/2/instances", nameless), "missing parameter 'name'")

    def test_not_an_object(self) -> None:
        """A body of another kind is refused by its kind."""
        for body, kind in (([1], "a list"), ("x", "a string"), (5, "a number"), (True, "a boolean")):
            told = self.refused("PUT", f"{WEB}/modify", body)
            self.assertEqual(told, f"the body must be a JSON object, not {kind}")

    def test_one_kind_of_number(self) -> None:
        """JSON does not tell 2.0 from 2, so neither does the check; what is between is no integer."""
        self.assertEqual(self.submitted("POST", f"{WEB}/disk/0/grow", {"amount": 512.0})["amount"], 512)
        self.assertEqual(
            self.submitted("POST", "/2/instances", NEW | {"disks": [{"size": 2.0}]})["disks"], [{"size": 2}]
        )
        told = self.refused("POST", f"{WEB}/disk/0/grow", {"amount": 0.5})
        self.assertEqual(told, "amount: expected int, got 0.5")

    def test_opcode_of_another_kind(self) -> None:
        """A body cannot say which opcode it becomes."""
        op = self.submitted("PUT", f"{WEB}/modify", {"OP_ID": "OP_CLUSTER_DESTROY", "force": True})
        self.assertEqual(op["OP_ID"], "OP_INSTANCE_SET_PARAMS")

    def test_secrets_are_not_told(self) -> None:
        """A refused private value is not repeated."""
        told = self.refused("POST", "/2/instances", NEW | {"osparams_private": "hunter2"})
        self.assertNotIn("hunter2", told)

    def test_bad_integers(self) -> None:
        """An argument that must be an integer and is none is refused, and named."""
        told = self.refused("PUT", f"{WEB}/startup?force=yes")
        self.assertEqual(told, "argument 'force': expected an integer such as 0 or 1, got 'yes'")
        self.refused("PUT", f"{WEB}/startup?force=" + "9" * 5000)

    def test_blank_integers(self) -> None:
        """An argument without a value is none, as for Ganeti."""
        for blank in ("?force=", "?force", "?force=&dry-run"):
            op = self.submitted("PUT", f"{WEB}/startup{blank}")
            self.assertNotIn(True, (op.get("force"), op.get("dry_run")))

    def test_no_dry_run(self) -> None:
        """Where it is not available it is refused: nothing is done in earnest that somebody only wants to try."""
        for method, address in (("PUT", f"{WEB}/migrate"), ("POST", "/2/nodes/node1.example.com/migrate")):
            told = self.refused(method, f"{address}?dry-run=1", {"mode": "live"})
            self.assertEqual(told, "argument 'dry-run' is not available here, and nothing was done")
            self.assertNotIn("dry_run", self.submitted(method, f"{address}?dry-run=0", {"mode": "live"}))

    def test_forbidden(self) -> None:
        """Compression tools are programs; they are not set from afar."""
        told = self.refused("PUT", "/2/modify", {"compression_tools": ["sh"]}, status=403)
        self.assertIn("compression_tools", told)

    def test_refused_by_the_queue(self) -> None:
        """What luxid says against the job goes on to the client."""
        self.luxi.answers = {"SubmitJob": GenericError("Queue drained")}
        call = request(self.luxi, "PUT", "/2/redistribute-config")
        coroutine = call.operation.run(call)
        with self.assertRaises(GenericError):
            coroutine.send(None)  # type: ignore[attr-defined]


class ReasonTests(OperationCase):
    """The trail of who wanted a job, and why."""

    def test_body_first(self) -> None:
        """What the body says of earlier stations stays before this one."""
        (op,) = self.submitted_all("PUT", f"{WEB}/shutdown?reason=upgrade", {"reason": [["cron", "nightly", 7]]})
        user, library = FACTS["reason_trail"]["entries"]
        self.assertEqual(
            op["reason"],
            [
                ["cron", "nightly", 7],
                [user[0], "upgrade", RECEIVED],
                [library[0].replace("HANDLER", "instances_name_shutdown"), "", RECEIVED],
            ],
        )


class InstanceTests(OperationCase):
    """New instances and their parameters."""

    def test_version(self) -> None:
        """A request for a new instance says that it is of version 1."""
        for version in ({}, {"__version__": 0}, {"__version__": 2}, {"__version__": True}, {"__version__": "1"}):
            body = {key: value for key, value in NEW.items() if key != "__version__"} | version
            self.assertIn("__version__", self.refused("POST", "/2/instances", body))

    def test_renames(self) -> None:
        """Clients say os and name."""
        op = self.submitted("POST", "/2/instances?dry-run=1", NEW | {"os": "debian"})
        self.assertEqual((op["os_type"], op["instance_name"], op["dry_run"]), ("debian", "web1", True))

    def test_usb_devices(self) -> None:
        """Spaces between USB devices become commas, in new instances and in changed ones."""
        hvparams = {"usb_devices": "1 2", "acpi": True}
        wanted = {"usb_devices": "1,2", "acpi": True}
        self.assertEqual(self.submitted("POST", "/2/instances", NEW | {"hvparams": hvparams})["hvparams"], wanted)
        self.assertEqual(self.submitted("PUT", f"{WEB}/modify", {"hvparams": hvparams})["hvparams"], wanted)
        self.assertEqual(self.submitted("PUT", f"{WEB}/modify", {"custom_hvparams": hvparams})["hvparams"], wanted)

    def test_secrets_reach_the_queue(self) -> None:
        """Private and secret parameters go on in clear, over the socket."""
        op = self.submitted("POST", "/2/instances", NEW | {"osparams_secret": {"key": "hunter2"}})
        self.assertEqual(op["osparams_secret"], {"key": "hunter2"})

    def test_old_changes(self) -> None:
        """Changes of disks and cards in the old form are taken, and stay so."""
        op = self.submitted("PUT", f"{WEB}/modify", {"disks": [["add", {"size": 10}]], "nics": [[0, {"ip": None}]]})
        self.assertEqual((op["disks"], op["nics"]), ([["add", {"size": 10}]], [[0, {"ip": None}]]))

    def test_many(self) -> None:
        """Many instances at once: each is an opcode, checked as one, and a fault is placed."""
        inner = {key: value for key, value in NEW.items() if key != "__version__"} | {"os": "debian"}
        op = self.submitted("POST", "/2/instances-multi-alloc", {"instances": [inner], "iallocator": "hail"})
        (only,) = op["instances"]
        self.assertEqual((only["OP_ID"], only["instance_name"]), ("OP_INSTANCE_CREATE", "web1"))
        self.assertEqual((only["os_type"], only["reason"]), ("debian", []))
        told = self.refused("POST", "/2/instances-multi-alloc", {"instances": [inner, inner | {"disks": 5}]})
        self.assertEqual(told, "instances[1]: disks: expected array, got 5")
        self.assertIn("a list", self.refused("POST", "/2/instances-multi-alloc", {"instances": "x"}))

    def test_remove(self) -> None:
        """Failures are never ignored."""
        op = self.submitted("DELETE", f"{WEB}?dry-run=1", {"shutdown_timeout": 5})
        self.assertEqual((op["ignore_failures"], op["shutdown_timeout"], op["dry_run"]), (False, 5, True))

    def test_grow(self) -> None:
        """The path says which disk."""
        op = self.submitted("POST", f"{WEB}/disk/3/grow", {"amount": 10})
        self.assertEqual((op["disk"], op["amount"]), (3, 10))
        self.assertIn("disk", self.refused("POST", f"{WEB}/disk/16/grow", {"amount": 10}))


class LegacyTests(OperationCase):
    """Arguments from the time before there were bodies."""

    def test_reinstall(self) -> None:
        """The old arguments do what the body does; both together are refused, but a reason never was an old one."""
        ids = [op["OP_ID"] for op in self.submitted_all("POST", f"{WEB}/reinstall?os=debian&nostartup=1")]
        self.assertEqual(ids, ["OP_INSTANCE_SHUTDOWN", "OP_INSTANCE_REINSTALL"])
        ops = self.submitted_all("POST", f"{WEB}/reinstall?os=debian")
        self.assertEqual((len(ops), ops[1]["os_type"]), (3, "debian"))
        self.assertIn("not both", self.refused("POST", f"{WEB}/reinstall?os=debian", {"start": False}))
        self.assertEqual(len(self.submitted_all("POST", f"{WEB}/reinstall?reason=x", {"start": False})), 2)

    def test_reinstall_body(self) -> None:
        """Unknown keys, and a start that is neither true nor false, are refused."""
        told = self.refused("POST", f"{WEB}/reinstall", {"image": "x"})
        self.assertEqual(told, "unknown parameter 'image'; allowed are os, osparams, start")
        self.assertIn("start", self.refused("POST", f"{WEB}/reinstall", {"start": 1}))
        self.assertEqual(self.refused("POST", f"{WEB}/reinstall", {"os": 5}), "os: expected str | null, got 5")

    def test_replace_disks(self) -> None:
        """Disks are numbers, in a list or in a text; without a body the old arguments count."""
        body = {"mode": "replace_auto", "disks": "0,2"}
        self.assertEqual(self.submitted("POST", f"{WEB}/replace-disks", body)["disks"], [0, 2])
        old = f"{WEB}/replace-disks?mode=replace_on_primary&disks=1"
        op = self.submitted("POST", old)
        self.assertEqual((op["mode"], op["disks"]), ("replace_on_primary", [1]))
        self.assertEqual(self.submitted("POST", old, body)["mode"], "replace_auto")
        self.assertIn("disks", self.refused("POST", f"{WEB}/replace-disks", body | {"disks": "a"}))
        self.assertIn("mode", self.refused("POST", f"{WEB}/replace-disks"))

    def test_migrate_node(self) -> None:
        """Live or a mode as arguments replace the body; a reason does not."""
        path = "/2/nodes/node1/migrate"
        self.assertEqual(self.submitted("POST", f"{path}?live=1")["mode"], "live")
        self.assertEqual(self.submitted("POST", f"{path}?live=0", {"junk": 1})["mode"], "non-live")
        self.assertEqual(self.submitted("POST", f"{path}?mode=non-live")["mode"], "non-live")
        self.assertEqual(self.submitted("POST", f"{path}?reason=x", {"mode": "live"})["mode"], "live")
        self.assertIn("not both", self.refused("POST", f"{path}?live=1&mode=live"))


class NodeTests(OperationCase):
    """Roles, storage units and tags."""

    def test_roles(self) -> None:
        """Each role is made of three settings; what it does not mind stays as it is."""
        told = FACTS["resources"]["/2/nodes/{node_name}/role"]["PUT"]["role_mapping"]
        for role, settings in told.items():
            op = self.submitted("PUT", "/2/nodes/node1/role?force=1&auto-promote=1", role)
            self.assertEqual({name: op.get(name) for name in settings}, settings, role)
            self.assertEqual((op["force"], op["auto_promote"]), (True, True))

    def test_no_role(self) -> None:
        """Other words are refused with the roles that there are; nobody becomes master like this."""
        told = self.refused("PUT", "/2/nodes/node1/role", "boss")
        self.assertEqual(told, "unknown role 'boss'; allowed are regular, master-candidate, drained, offline")
        self.assertIn("master-failover", self.refused("PUT", "/2/nodes/node1/role", "master"))
        self.assertIn("an object", self.refused("PUT", "/2/nodes/node1/role", {"role": "drained"}))
        self.assertIn("null", self.refused("PUT", "/2/nodes/node1/role"))

    def test_storage(self) -> None:
        """Fields come with commas between them or each on its own, and there is at least one."""
        path = "/2/nodes/node1/storage?storage_type=lvm-vg"
        for fields in ("&output_fields=name,size", "&output_fields=name&output_fields=size"):
            op = self.submitted("GET", path + fields)
            self.assertEqual((op["output_fields"], op["nodes"]), (["name", "size"], ["node1"]))
        self.assertIn("output_fields", self.refused("GET", path))

    def test_allocatable(self) -> None:
        """What is not said does not change."""
        path = "/2/nodes/node1/storage/modify?storage_type=lvm-vg&name=xenvg"
        self.assertEqual(self.submitted("PUT", path)["changes"], {})
        self.assertEqual(self.submitted("PUT", f"{path}&allocatable=0")["changes"], {"allocatable": False})
        self.assertIn("'name'", self.refused("PUT", "/2/nodes/node1/storage/modify?storage_type=lvm-vg"))

    def test_tags(self) -> None:
        """No tag is no request."""
        self.assertIn("'tag'", self.refused("PUT", "/2/tags"))
        self.assertNotIn("name", self.submitted("PUT", "/2/tags?tag=a&tag=b"))


class GroupTests(OperationCase):
    """Groups and networks."""

    def test_custom_parameters(self) -> None:
        """Parameters of a group's own can be sent back under the names by which they are read."""
        body = {"custom_ndparams": {"spindle_count": 2}, "custom_ipolicy": {}, "custom_diskparams": {}}
        op = self.submitted("PUT", "/2/groups/default/modify", body)
        self.assertEqual((op["ndparams"], op["ipolicy"], op["diskparams"]), ({"spindle_count": 2}, {}, {}))

    def test_null_tags(self) -> None:
        """A new network's tags may be null, as clients send them."""
        body = {"network_name": "lan", "network": "192.0.2.0/24", "tags": None}
        self.assertEqual(self.submitted("POST", "/2/networks", body)["tags"], [])

"""Tests of running OS scripts, with programs that are only scripted."""

import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import Deferred

from ganeti_tx.errors import GanetiError, OpExecError, OpPrereqError
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.scripts import CREATE_TIMEOUT, OsScripts
from ganeti_tx.node.os.streaming import EXPORT, IMPORT, streaming
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner
from ganeti_tx.test.node.os.test_definition import DefinitionTestCase
from ganeti_tx.test.node.os.test_environment import DISK, INSTANCE

DISKS = [AttachedDisk(DISK, "/srv/d0")]
SPEC = msgspec.structs.replace(INSTANCE, os="debian+lenny")


class ScriptsTestCase(DefinitionTestCase):
    """A node with one OS definition, whose scripts do as told."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.install()
        self.paths = Paths(Path(os.path.abspath(self.mktemp())))
        self.runner = FakeProcessRunner()
        self.scripts = OsScripts(self.catalogue, self.paths, self.runner, InlineThreads(), lambda: 86400.0)

    def get(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What it gives at once."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def failed(self, work: Coroutine[Any, Any, Any], kind: type[GanetiError]) -> str:
        """The one line with which it fails."""
        return str(self.failureResultOf(Deferred.fromCoroutine(work), kind).value)

    def answer(self, script: str, status: int = 0, said: bytes = b"") -> None:
        """What a script will do: write to its output and end."""

        def run(call: Call) -> ProcessResult:
            if call.child_fds is None:
                return ProcessResult(status=status, stderr=said)
            os.write(call.child_fds[2], said)
            return ProcessResult(status=status)

        self.runner.script([str(self.path / script)], run)

    def logs(self) -> list[str]:
        """The names of the logs."""
        return sorted(os.listdir(self.paths.log_os_dir))


class ScriptsTests(ScriptsTestCase):
    """Create, rename and verify."""

    def test_create(self) -> None:
        """The script runs in its directory with the instance's environment; its output is in a log of its own."""
        self.answer("create", said=b"installed\n")
        self.get(self.scripts.run_create(SPEC, DISKS))
        (call,) = self.runner.calls
        self.assertEqual((call.argv, call.cwd, call.timeout), ((f"{self.path}/create",), self.path, CREATE_TIMEOUT))
        self.assertEqual((call.env["DISK_0_PATH"], call.env["OS_VARIANT"]), ("/srv/d0", "lenny"))
        self.assertNotIn("INSTANCE_REINSTALL", call.env)
        self.assertEqual(self.logs(), ["add-debian+lenny-web1.example.com-1970-01-02_00_00_00.log"])
        log = self.paths.log_os_dir / self.logs()[0]
        self.assertEqual((log.read_bytes(), oct(log.stat().st_mode & 0o777)), (b"installed\n", "0o640"))

    def test_reinstall(self) -> None:
        """A reinstallation is told; a second run within the second has a log beside the first."""
        self.answer("create")
        for _ in range(2):
            self.get(self.scripts.run_create(SPEC, DISKS, reinstall=True))
        self.assertEqual(self.runner.calls[0].env["INSTANCE_REINSTALL"], "1")
        self.assertEqual(len(self.logs()), 2)

    def test_failure(self) -> None:
        """The error has status, instance, the last lines and the log's name, and no secret."""
        self.answer("create", 3, b"".join(b"line %d\n" % number for number in range(100)) + b"no space\n")
        text = self.failed(self.scripts.run_create(SPEC, DISKS), OpExecError)
        for part in ("create", "web1.example.com", "status 3", "line 99 | no space", str(self.paths.log_os_dir)):
            self.assertIn(part, text)
        self.assertNotIn("line 50 ", text)

    def test_log_exchanged(self) -> None:
        """The error has what the script said, not what somebody has put in its log's place meanwhile."""

        def run(call: Call) -> ProcessResult:
            assert call.child_fds is not None
            os.write(call.child_fds[2], b"no space\n")
            log = self.paths.log_os_dir / self.logs()[0]
            log.unlink()
            log.write_text("of another file")
            return ProcessResult(status=1)

        self.runner.script([str(self.path / "create")], run)
        text = self.failed(self.scripts.run_create(SPEC, DISKS), OpExecError)
        self.assertTrue(text.endswith("no space"), text)

    def test_secrets(self) -> None:
        """Private and secret parameters are in the environment, never in argv, error or log."""
        self.answer("create", 1)
        spec = msgspec.structs.replace(SPEC, osparams_private={"a": "pr1v"}, osparams_secret={"b": "s3cret"})
        text = self.failed(self.scripts.run_create(spec, DISKS), OpExecError)
        (call,) = self.runner.calls
        self.assertEqual((call.env["OSP_A"], call.env["OSP_B"]), ("pr1v", "s3cret"))
        log = (self.paths.log_os_dir / self.logs()[0]).read_text()
        for secret in ("pr1v", "s3cret"):
            self.assertNotIn(secret, "".join([*call.argv, text, log, *self.logs()]))

    def test_secrets_that_are_said(self) -> None:
        """A script that says what it was told in confidence is told of, and logged, without that."""
        spec = msgspec.structs.replace(SPEC, osparams_private={"a": "pr1v"}, osparams_secret={"b": "s3cret"})
        for status in (0, 1):
            self.answer("create", status, b"using pr1v and s3cret; s3cret\n")
            done = Deferred.fromCoroutine(self.scripts.run_create(spec, DISKS))
            text = "" if status == 0 else str(self.failureResultOf(done, OpExecError).value)
            log = (self.paths.log_os_dir / self.logs()[status]).read_text()
            self.assertEqual(log, "using **** and ******; ******\n")
            self.assertNotIn("s3cret", text)
        self.answer("verify", 1, b"b must be yes, not s3cret\n")
        asked = OsValidate(
            required=True, os_name="debian+lenny", checks=["parameters"], osparams={"dhcp": "s3cret"}, hidden=["dhcp"]
        )
        text = self.failed(self.scripts.validate(asked), OpPrereqError)
        self.assertIn("b must be yes, not <redacted>", text)

    def refusal(self, value: str, said: bytes, truncated: bool = False) -> str:
        """What is told of a verify script that says something and knows a secret value."""
        result = ProcessResult(status=1, stderr=said, truncated=truncated)
        self.runner.script([str(self.path / "verify"), "parameters"], lambda _call: result)
        hidden = OsValidate(
            required=True, os_name="debian+lenny", checks=["parameters"], osparams={"dhcp": value}, hidden=["dhcp"]
        )
        return self.failed(self.scripts.validate(hidden), OpPrereqError)

    def test_secrets_of_lines(self) -> None:
        """Of a key of several lines each line is hidden, also where the last one alone is told."""
        key = "-----BEGIN-----\nMIIEfirst\nTOPSECRETLAST\n"
        for said in (
            f"bad key {key}",
            "bad key TOPSECRETLAST",
            key.replace("\n", "\r\n"),
            "\n".join(key.split()[::-1]),
        ):
            text = self.refusal(key, said.encode())
            self.assertIn("<redacted>", text)
            for line in key.split():
                self.assertNotIn(line, text)
        self.answer("create", 1, b"bad: MIIEfirst TOPSECRETLAST\n")
        spec = msgspec.structs.replace(SPEC, osparams_secret={"b": key})
        self.assertIn("bad: ********* *************", self.failed(self.scripts.run_create(spec, DISKS), OpExecError))

    def test_long_secrets(self) -> None:
        """Nor is a part told of a value that is longer than an error, or than all that a script may say."""
        long = "base64:" + "QUJDREVG" * 1000
        self.assertIn("output: not <redacted> but yes", self.refusal(long, f"not {long} but yes\n".encode()))
        self.assertNotIn("QUJD", self.refusal(long, b"x" * 9000 + f"\nnot {long[:3000]}".encode(), truncated=True))

    def test_short_values(self) -> None:
        """What is too short to be a secret leaves the error readable."""
        self.assertIn("output: 10 is not 1 of 11", self.refusal("1", b"10 is not 1 of 11\n"))

    def test_time_limit(self) -> None:
        """A script that does not end is ended after a day, and the error says so."""
        self.runner.script([str(self.path / "create")], lambda _call: Deferred())
        running = Deferred.fromCoroutine(self.scripts.run_create(SPEC, DISKS))
        self.runner.clock.advance(CREATE_TIMEOUT - 1)
        self.assertNoResult(running)
        self.runner.clock.advance(1)
        self.assertIn("timed out", str(self.failureResultOf(running, OpExecError).value))

    def test_untrusted(self) -> None:
        """No script of an untrusted OS runs on the node, and each error tells what may be done instead."""
        self.files.remove(self.path / "create")
        self.write(self.path / "create_untrusted", "#!/bin/sh\n", 0o755)
        for refused, told in (
            (self.scripts.run_create(SPEC, DISKS), "create script itself; .*--install-image"),
            (self.scripts.run_rename(SPEC, DISKS, "old.example.com"), "rename script itself; .*keeps its name"),
            (self.validated(scripts=["export"]), "export script itself; 'gnt-instance modify -o'"),
            (self.validated(scripts=["import"]), "import script itself; .*config.ini"),
            (self.validated(on_node=True), "create script itself; .*--install-image"),
        ):
            self.assertRegex(self.failed(refused, OpPrereqError), f"'debian' has only create_untrusted, .*{told}")
        for name in (EXPORT, IMPORT):
            self.assertRaises(OpPrereqError, streaming, self.scripts, name, SPEC, DISKS, 0, DISKS[0])
        self.assertEqual(self.runner.calls, [])

    def test_parameters_of_untrusted(self) -> None:
        """Nor does its verify script; which parameters there are is known without."""
        self.files.remove(self.path / "create")
        self.write(self.path / "create_untrusted", "#!/bin/sh\n", 0o755)
        self.assertTrue(self.get(self.validated(checks=["parameters"], osparams={"dhcp": "yes"})))
        refused = self.failed(self.validated(checks=["parameters"], osparams={"dhpc": "yes"}), OpPrereqError)
        self.assertIn("not supported by the OS debian: dhpc", refused)
        self.assertEqual(self.runner.calls, [])

    def validated(self, **asked: Any) -> Coroutine[Any, Any, bool]:
        """What the node is asked of the OS."""
        all_asked = {"required": True, "os_name": SPEC.os, "checks": [], "osparams": {}, **asked}
        return self.scripts.validate(OsValidate(**all_asked))

    def test_rename(self) -> None:
        """The rename script is told the old name."""
        self.answer("rename")
        self.get(self.scripts.run_rename(SPEC, DISKS, "old.example.com"))
        (call,) = self.runner.calls
        self.assertEqual(call.argv, (f"{self.path}/rename",))
        self.assertEqual(call.env["OLD_INSTANCE_NAME"], "old.example.com")

    def test_no_rename(self) -> None:
        """An OS without a rename script refuses it, before anything is run or logged."""
        self.files.remove(self.path / "rename")
        refused = self.failed(self.scripts.run_rename(SPEC, DISKS, "old.example.com"), OpPrereqError)
        self.assertIn("cannot be renamed", refused)
        self.assertEqual(self.runner.calls, [])
        self.assertFalse(self.paths.log_os_dir.exists())

    def validate(self, name: str, required: bool = True, force: bool = False, **params: str) -> Any:
        """The call `os_validate`."""
        return self.scripts.validate(
            OsValidate(required=required, os_name=name, checks=["parameters"], osparams=params, force_variant=force)
        )

    def test_validate(self) -> None:
        """The verify script gets the word parameters, and the parameters in its environment."""
        self.answer("verify")
        self.assertTrue(self.get(self.validate("debian+lenny", dhcp="yes")))
        (call,) = self.runner.calls
        self.assertEqual(call.argv, (f"{self.path}/verify", "parameters"))
        self.assertEqual((call.env["OSP_DHCP"], call.env["OS_VARIANT"]), ("yes", "lenny"))

    def test_validate_refused(self) -> None:
        """What the verify script says is in the refusal."""
        self.answer("verify", 1, b"dhcp must be yes or no\n")
        self.assertIn("must be yes or no", self.failed(self.validate("debian+lenny", dhcp="x"), OpPrereqError))

    def test_validate_before_verify(self) -> None:
        """Wrong variants, parameters and checks are refused without running anything."""
        self.failed(self.validate("debian"), OpPrereqError)
        self.failed(self.validate("debian+woody"), OpPrereqError)
        self.failed(self.validate("debian+lenny", color="x"), OpPrereqError)
        unknown = OsValidate(required=True, os_name="debian+lenny", checks=["colors"], osparams={})
        self.failed(self.scripts.validate(unknown), OpPrereqError)
        self.assertEqual(self.runner.calls, [])

    def test_validate_hypervisor(self) -> None:
        """A definition that names hypervisors is installed under no other; nothing is run for it."""
        self.answer("verify")
        asked = OsValidate(required=True, os_name="debian+lenny", checks=["parameters"], osparams={}, hypervisor="kvm")
        self.assertTrue(self.get(self.scripts.validate(asked)))
        self.install(hypervisors="xen-pvm\n\n# not yet: kvm\nfake\n")
        self.assertEqual(
            self.failed(self.scripts.validate(asked), OpPrereqError),
            "OS 'debian' cannot be installed under hypervisor kvm; allowed: xen-pvm, fake",
        )
        self.assertTrue(self.get(self.scripts.validate(msgspec.structs.replace(asked, hypervisor="fake"))))
        self.assertTrue(self.get(self.scripts.validate(msgspec.structs.replace(asked, hypervisor=None))))
        self.assertEqual(len(self.runner.calls), 3)

    def test_validate_absent(self) -> None:
        """A missing OS is False where it need not be, an error where it must."""
        self.assertFalse(self.get(self.validate("absent", required=False)))
        self.failed(self.validate("absent", required=True), OpPrereqError)

    def test_validate_old(self) -> None:
        """Before version 20 there is nothing to verify."""
        self.install("old", ganeti_api_version="15\n")
        self.assertTrue(self.get(self.validate("old+lenny")))
        self.assertEqual(self.runner.calls, [])

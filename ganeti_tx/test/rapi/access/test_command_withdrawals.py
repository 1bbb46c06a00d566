"""What the command that changes users and tokens has cancelled."""

from ganeti_tx.errors import GenericError
from ganeti_tx.test.rapi.access.test_command import CommandCase, Impatient


class WithdrawalTests(CommandCase):
    """Whose rights are taken away, his jobs are that wait."""

    def test_whose(self) -> None:
        """Those of the token or the user; nobody's where nothing is taken away."""
        self.ok("token add ci --allow write --scope tag=web")
        self.ok("user add jack", "secret\n")
        self.ok("user password jack", "other\n")
        self.ok("token list")
        self.assertEqual(self.withdrawn, [])
        self.ok("token revoke ci")
        self.ok("user modify jack --scope tag=web --allow write")
        self.ok("user remove jack")
        self.run_it("user remove jack")
        self.assertEqual(self.withdrawn, ["token:ci", "jack", "jack"])

    def test_more_rights(self) -> None:
        """Who may do all that he could before keeps his jobs."""
        self.paths.rapi_roles_file.parent.mkdir(parents=True)
        self.paths.rapi_roles_file.write_text("ops write\nweb write,tag=web\n")
        self.ok("user add jack --allow write --scope tag=web", "secret\n")
        for rights in ("--allow write --scope tag=web,tag=db", "--role @ops", "--role @admin"):
            self.ok(f"user modify jack {rights}")
        self.assertEqual(self.withdrawn, [])
        for rights in (
            "--role @admin",
            "--role @ops",
            "--role @web",
            "--allow write --scope tag=db",
            "--allow jobs --scope tag=db",
        ):
            self.withdrawn.clear()
            self.ok(f"user modify jack {rights}")
            self.assertEqual(self.withdrawn, ["jack"], rights)

    def test_told(self) -> None:
        """The administrator hears what becomes of them."""
        self.jobs = ["Job 7 canceled"]
        self.ok("token add ci")
        _status, _out, err = self.run_it("token revoke ci")
        self.assertIn("token:ci asked for a job: Job 7 canceled\n", err)

    def test_again(self) -> None:
        """Who could not be asked, or has been interrupted, does the same again; what is changed is told meanwhile."""
        self.ok("user add jack --allow write", "secret\n")
        for error, told in (
            (GenericError("away"), "jobs that jack asked for before may wait, and be done yet: away\n"),
            (KeyboardInterrupt(), "interrupted; the change is made; other nodes may not have it yet, ganeti-master brings it to"
             " them, and jobs that jack asked for before may wait, and be done yet\n"),
        ):  # fmt: skip
            self.withdraw_error = error
            _status, _out, err = self.run_it("user modify jack --allow read")
            self.assertTrue(err.endswith(told), err)
        self.withdraw_error, self.jobs = None, ["Job 7 canceled"]
        _status, _out, err = self.run_it("user modify jack --allow read")
        self.assertEqual(err, "jack asked for a job: Job 7 canceled\n")

    def test_interrupted_before(self) -> None:
        """Where nothing is changed yet, that is told."""
        before = self.contents()
        status, _out, err = self.run_it("user add jack", Impatient())
        self.assertEqual((status, err), (1, "ganeti-rapi-access: interrupted; nothing is changed\n"))
        self.assertEqual(self.contents(), before)

    def test_no_master_daemon(self) -> None:
        """Or that nobody could be asked; the rights are gone all the same."""
        self.ok("token add ci")
        self.spread_error = GenericError("it does not run")
        status, _out, err = self.run_it("token revoke ci")
        self.assertEqual(status, 0)
        self.assertIn("jobs that token:ci asked for before may wait, and be done yet: it does not run", err)

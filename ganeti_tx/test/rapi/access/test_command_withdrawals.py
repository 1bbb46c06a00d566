"""What the command that changes users and tokens has cancelled."""

from ganeti_tx.errors import GenericError
from ganeti_tx.test.rapi.access.gates import NOW
from ganeti_tx.test.rapi.access.test_command import CommandCase, Impatient

JACKS_JOBS = "jobs that jack asked for before may wait, and be done yet, until the same command is given again"


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
        self.assertEqual(self.withdrawn, ["token:ci", "jack", "jack"])

    def test_until_when(self) -> None:
        """Those asked for until the change was made, however long it takes to bring it to other nodes: somebody may be given
        the name anew meanwhile.
        """
        self.now = NOW + 0.1234567
        self.ok("token add ci")
        changed = self.now
        self.ok("token revoke ci")
        (until,) = self.until
        self.assertGreaterEqual(until, changed * 1e9)
        self.assertLess(until, changed * 1e9 + 2000)
        self.run_it("token revoke ci")
        self.assertGreater(self.until[-1], until)

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
            (GenericError("away"), f"{JACKS_JOBS}: away\n"),
            (KeyboardInterrupt(), "interrupted; the change is made; other nodes may not have it yet, ganeti-master brings it to"
             f" them, and {JACKS_JOBS}\n"),
        ):  # fmt: skip
            self.withdraw_error = error
            status, _out, err = self.run_it("user modify jack --allow read")
            self.assertEqual(status, 1)
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
        """Or that nobody could be asked; the rights are gone all the same, but all that was wanted is not done."""
        self.ok("token add ci")
        self.spread_error = GenericError("it does not run")
        status, _out, err = self.run_it("token revoke ci")
        self.assertEqual((status, self.ok("token list")), (1, ""))
        self.assertTrue(err.endswith(f"{JACKS_JOBS.replace('jack', 'token:ci')}: it does not run\n"), err)

    def test_removed_again(self) -> None:
        """What could not be cancelled when somebody was removed, is when he is removed again; nothing else is done then."""
        self.ok("token add ci")
        self.ok("user add jack", "secret\n")
        for line, caller, gone in (
            ("token revoke ci", "token:ci", f"there is no token 'ci' in {self.paths.rapi_tokens_file}"),
            ("user remove jack", "jack", f"there is no user 'jack' in {self.paths.rapi_users_file}"),
        ):
            self.withdraw_error, self.jobs = GenericError("away"), []
            left, prefix = JACKS_JOBS.replace("jack", caller), f"ganeti-rapi-access: {gone}; "
            self.assertEqual(self.run_it(line), (1, "", f"{left}: away\n"))
            self.assertEqual(self.run_it(line), (1, "", f"{prefix}{left}: away\n"))
            self.withdraw_error = KeyboardInterrupt()
            self.assertEqual(self.run_it(line), (1, "", f"ganeti-rapi-access: interrupted; {left}\n"))
            self.withdraw_error, self.jobs, self.spreads = None, ["Job 7 canceled"], 0
            told = f"{prefix}jobs are left that {caller} asked for before\n"
            told += f"{caller} asked for a job: Job 7 canceled\n"
            self.assertEqual(self.run_it(line), (0, "", told))
            self.jobs = []
            self.assertEqual(
                self.run_it(line), (1, "", f"{prefix}no job waits or runs that {caller} asked for before\n")
            )
            self.assertEqual(self.spreads, 0)

"""The watcher and the cleaner against the Ganeti 3.0 watcher table."""

import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.watcher import cleaner, decisions, main
from ganeti_tx.watcher.hooks import DIRECTORY
from ganeti_tx.watcher.jobs import SOURCE

FACTS = json.loads((Path(__file__).parent / "facts" / "watcher.json").read_text())


class FactsTests(SynchronousTestCase):
    """What other programs, and administrators, rely on."""

    def test_options(self) -> None:
        """Every option of Ganeti's is there, by all its names, and none besides; only -g takes a group here."""
        wanted = {
            tuple(sorted([*option["short"], *option["long"]])): option["takes_value"] == "required"
            for option in FACTS["options"]
        }
        wanted[("--wait-children",)] = wanted.pop(("--no-wait-children",))
        found = {
            tuple(sorted(set(action.option_strings) - {"--no-wait-children"})): action.nargs != 0
            for action in main.parser()._actions
        }
        self.assertEqual(found, wanted | {("-g",): True})
        self.assertFalse(main.parser().parse_args(["--no-wait-children"]).wait_children)

    def test_values(self) -> None:
        """Ages, limits and words."""
        self.assertEqual(main.parser().parse_args([]).job_age, FACTS["job_archive"]["default_age_s"])
        self.assertEqual(decisions.EXPIRY, FACTS["down_instances"]["expiry_s"])
        self.assertEqual(cleaner.AGE, FACTS["cleaner"]["master"]["age_days"] * 86400)
        self.assertEqual(SOURCE, FACTS["jobs"]["reason_source"])
        self.assertLessEqual(
            {decisions.DOWN, decisions.USER_DOWN, decisions.RUNNING}, {*FACTS["state_files"]["statuses"]}
        )
        self.assertIn(str(int(ExitCode.NOTMASTER)), FACTS["exit_codes"])
        self.assertIn(str(int(ExitCode.NODESETUP_ERROR)), FACTS["exit_codes"])

    def test_job_ages(self) -> None:
        """In seconds or with a unit; -1 means all, as in Ganeti."""
        for text, age in {"90": 90, "30m": 1800, "2d": 172800, "-1": -1, "all": -1}.items():
            self.assertEqual(main.parser().parse_args(["-A", text]).job_age, age, text)

    def test_paths(self) -> None:
        """Files are where Ganeti has them, but for the lock, which anybody might hold where it was."""
        paths = Paths()
        found = {
            "group_instance_status": paths.watcher_instance_status_file("GROUP-UUID"),
            "group_state": paths.watcher_state_file("GROUP-UUID"),
            "hooks_dir": paths.hooks_dir / DIRECTORY,
            "instance_status": paths.instance_status_file,
            "log": paths.watcher_log,
            "pause": paths.watcher_pause_file,
        }
        self.assertEqual(
            {name: str(path) for name, path in found.items()},
            {name: text.split(" ")[0] for name, text in FACTS["paths"].items() if name != "lock"},
        )
        self.assertEqual(paths.watcher_lock_file.name, Path(FACTS["paths"]["lock"]).name)
        logs = {word: str(paths.log_dir / directory) for word, (_, directory) in cleaner.WORDS.items()}
        self.assertEqual(logs, {word: path.split(" ")[0] for word, path in FACTS["cleaner"]["logs"].items()})

    def test_schedule(self) -> None:
        """Timers run when Ganeti's sample for cron does."""
        calendar = {
            name: next(
                line.removeprefix("OnCalendar=")
                for line in shipped(f"systemd/ganeti-{name}.timer").read_text().splitlines()
                if line.startswith("OnCalendar=")
            )
            for name in ("watcher", "cleaner-master", "cleaner-node")
        }
        schedule = FACTS["schedule"]
        self.assertEqual((calendar["watcher"], schedule["watcher"]["cron"]), ("*:0/5", "every 5 minutes"))
        for name in ("master", "node"):
            at = schedule[f"cleaner_{name}"]["cron"].removeprefix("daily ")
            self.assertEqual(calendar[f"cleaner-{name}"], f"*-*-* {at}:00")

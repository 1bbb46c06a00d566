"""Tests of the declarations of settings among themselves."""

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.cluster import setting_forms, setting_options
from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.settings import checks
from ganeti_tx.model.settings.rules import RULES, SETTINGS
from ganeti_tx.model.settings.setting import Form, Program, Reading, changed
from ganeti_tx.model.settings.table import DECLARED
from ganeti_tx.test.model.samples import CLUSTER


class DeclarationTests(SynchronousTestCase):
    """What is named is there."""

    def test_rules(self) -> None:
        """Each rule belongs to a setting, and what is changed by a rule has one."""
        self.assertEqual(set(RULES) - {setting.name for setting in DECLARED}, set())
        without = [each.name for each in SETTINGS if each.default is UNSET and each.initial is UNSET]
        self.assertEqual(without, ["master_netdev"])  # init finds one

    def test_forms_and_readings(self) -> None:
        """Every form that a declaration can name is one that commands know."""
        self.assertEqual(set(setting_forms.FORMS), set(Form))
        self.assertEqual(set(setting_options.READERS), set(Reading))

    def test_options_once(self) -> None:
        """No option of a command belongs to two settings, and every fact has one name."""
        for program in Program:
            spelled = [word for each in DECLARED for flag in each.flags_on(program) for word in flag.spelled.split()]
            self.assertEqual(len(spelled), len(set(spelled)))
        told = [fact.name for each in DECLARED for fact in each.facts]
        self.assertEqual(len(told), len(set(told)))


class ChangeTests(SynchronousTestCase):
    """Parameters to what is stored."""

    def test_only_what_is_given(self) -> None:
        """What no parameter is about stays out."""
        self.assertEqual(changed(CLUSTER, SETTINGS, {}), {})
        self.assertEqual(changed(CLUSTER, SETTINGS, {"mac_prefix": "AA:00:01"}), {"mac_prefix": "aa:00:01"})
        self.assertEqual(changed(CLUSTER, SETTINGS, {"drbd_helper": ""}), {"drbd_usermode_helper": None})

    def test_checks(self) -> None:
        """Each refuses with the parameter's name, the value, and what is allowed."""
        for check, value, words in (
            (checks.at_least_one, 0, "x must be at least 1, not 0"),
            (checks.directory, "a/b", "x: 'a/b' is no absolute path"),
            (checks.image, "a/b", "x: 'a/b' is neither an absolute path nor a URL"),
            (checks.program, "true", "x: 'true' is no absolute path"),
            (checks.mac_prefix, "aa:bb", "x must have the form aa:bb:cc, not 'aa:bb'"),
            (checks.tools, ["a b"], "x: 'a b' is no plain name of a program"),
        ):
            error = self.assertRaises(OpPrereqError, check, "x", value)
            self.assertIn(words, str(error))

"""What one check says, and how it is told (reference: errors.json, cluster_verify_line_formats)."""

from collections.abc import Callable, Iterable

from attrs import define, frozen

from ganeti_tx.model.verify_codes import WARNINGS, VerifyCode


@frozen
class Verdict:
    """A check of one object, by its name; of no single one it is empty.

    @ivar wrong: whether there is anything to tell. A simulation of errors tells what is right, too.
    @ivar warning: whether the cluster works on with it.
    """

    code: VerifyCode
    name: str
    text: str
    wrong: bool = True
    warning: bool = False

    @property
    def is_warning(self) -> bool:
        """Whether it is never an error."""
        return self.warning or self.code in WARNINGS


@define
class Report:
    """Tells verdicts as they come, and keeps whether one of them was an error."""

    say: Callable[[str], None]
    error_codes: bool = False
    ignored: frozenset[VerifyCode] = frozenset()
    simulate: bool = False
    verbose: bool = False
    passed: bool = True

    def heading(self, text: str) -> None:
        """What is looked at next."""
        self.say(f"* {text}")

    def detail(self, text: str) -> None:
        """What only they want to hear who want to hear much."""
        if self.verbose:
            self.heading(text)

    def note(self, text: str) -> None:
        """What is no fault."""
        self.say(f"  - NOTICE: {text}")

    def tell(self, verdicts: Iterable[Verdict]) -> None:
        """Errors that are ignored are told as warnings."""
        for verdict in verdicts:
            if verdict.wrong or self.simulate:
                warning = verdict.is_warning or verdict.code in self.ignored
                self.passed = self.passed and warning
                self.say(self._line("WARNING" if warning else "ERROR", verdict))

    def _line(self, severity: str, verdict: Verdict) -> str:
        if self.error_codes:
            return f"  - {severity}:{verdict.code}:{verdict.code.about}:{verdict.name or None}:{verdict.text}"
        return f"  - {severity}: {verdict.code.about} {verdict.name}: {verdict.text}"

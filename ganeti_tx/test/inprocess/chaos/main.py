"""bench/simulate: many seeds, or one seed event by event."""

import argparse
import sys
from collections.abc import Callable, Sequence

from twisted.logger import globalLogBeginner

from ganeti_tx.test.inprocess.chaos.campaign import run
from ganeti_tx.test.inprocess.chaos.life import Listening, Outcome, live


def main(argv: Sequence[str], say: Callable[[str], None] = print) -> int:
    """Exit status 1 when an invariant was broken."""
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__)
    parser.add_argument("--seed", type=int, help="live through this one only")
    parser.add_argument("--trace", action="store_true", help="print every event of it in order")
    parser.add_argument("--seeds", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--start", type=int, default=0, help="the first of them (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--changes", action="store_true", help="have disks changed, moved and converted, too")
    options = parser.parse_args(argv)
    if options.seed is not None:
        outcome = live(options.seed, say if options.trace else None, options.changes)
        tell(outcome, say, len(outcome.story) if not options.trace else 0)
        return int(bool(outcome.broken))
    campaign = run(
        range(options.start, options.start + options.seeds),
        options.jobs,
        lambda each: tell(each, say, 0),
        options.changes,
    )
    say(campaign.summary())
    return int(bool(campaign.broken))


def tell(outcome: Outcome, say: Callable[[str], None], lines: int) -> None:
    """What became of a seed."""
    for line in outcome.story[-lines:] if lines else ():
        say(line)
    for fault in outcome.broken:
        say(f"seed {outcome.seed}: {fault}")
    if lines or not outcome.broken:
        say(f"seed {outcome.seed}: {outcome.turns} events, digest {outcome.digest}")


def command() -> int:
    """The program."""
    globalLogBeginner.beginLoggingTo([Listening(lambda event: None)], redirectStandardIO=False, discardBuffer=True)
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(command())

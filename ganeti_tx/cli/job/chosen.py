"""Which jobs the operator means, in ids and ranges of them."""

from collections.abc import Sequence

from ganeti_tx.cli.parsing import UsageError, job_ids

#: So many jobs may be meant at once.
MOST = 1000


def job_ranges(words: Sequence[str]) -> list[int]:
    """Ids and ranges such as 9-12, each job once, in the order given.

    @raise UsageError: a word is neither, or too many are meant.
    """
    found: dict[int, None] = {}
    for word in words:
        low, dash, high = word.partition("-")
        first, last = job_ids([low, high] if dash else [word, word])
        if first > last:
            raise UsageError(f"invalid range of jobs {word!r}: {last} comes before {first}")
        if last - first >= MOST or len(found) + last - first >= MOST:
            raise UsageError(f"too many jobs are meant by {word!r}: at most {MOST} can be watched at once")
        found.update(dict.fromkeys(range(first, last + 1)))
    return list(found)

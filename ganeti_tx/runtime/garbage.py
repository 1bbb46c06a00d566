"""When Python looks for garbage among objects.

What a program imports stays, and there is much of it: to look through that again and again makes a daemon come up later, and
holds up whoever waits for one that runs.
"""

import gc

#: So many objects more than before, until somebody looks: there are not so many when a daemon is up.
_SELDOM = 250_000
_USUAL = gc.get_threshold()


def search_seldom() -> None:
    """While much is imported."""
    gc.set_threshold(_SELDOM)


def spare_what_is_here() -> None:
    """What is here now is looked through for the last time; what comes is, as usual."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL)

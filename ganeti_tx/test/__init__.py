"""Tests; mirrors the tree."""

from contextlib import suppress

with suppress(ModuleNotFoundError):  # programs of the tests also run where there is only what the daemons need
    from hypothesis import HealthCheck, settings

    # How long something takes says nothing of the program: a machine may be busy with other things.
    settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")

"""Tests; mirrors the tree."""

import gc
from contextlib import suppress

with suppress(ModuleNotFoundError):  # programs of the tests also run where there is only what the daemons need
    from hypothesis import HealthCheck, settings

    # How long something takes says nothing of the program: a machine may be busy with other things.
    settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")

with suppress(ModuleNotFoundError):
    from ganeti_tx.test.in_time import leave_out_what_is_late

    leave_out_what_is_late()

# Clusters in one process are many objects, among which a search for garbage would take a fifth of the time.
gc.set_threshold(20_000, 20, 50)

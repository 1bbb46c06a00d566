"""Faults of a cluster that verification finds: a file for what each kind is about, all of them in `table`."""

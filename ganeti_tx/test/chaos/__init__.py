"""The fault campaign: a devcluster under load whose parts are killed, filled up and cut off, and what must hold after it."""

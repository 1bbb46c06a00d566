"""Volumes of external storage, which the scripts of a provider make, attach and remove (reference: extstorage.json)."""

"""Tests of ganeti_tx.rapi.events."""

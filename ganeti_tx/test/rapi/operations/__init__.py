"""Tests of ganeti_tx.rapi.operations."""

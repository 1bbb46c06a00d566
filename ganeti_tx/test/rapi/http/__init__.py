"""Tests of ganeti_tx.rapi.http."""

"""Tests of ganeti_tx.jobs."""

"""Tests of ganeti_tx.queue.filters."""

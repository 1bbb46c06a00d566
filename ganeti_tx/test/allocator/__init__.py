"""Tests of ganeti_tx.allocator."""

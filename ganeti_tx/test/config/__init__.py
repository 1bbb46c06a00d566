"""Tests of ganeti_tx.config."""

"""Tests of ganeti_tx.logic.verify."""

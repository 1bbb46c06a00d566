"""Tests of ganeti_tx.rapi.asking."""

"""Queries: fields, filters, rows, live data."""

"""Queries that only jobs can answer: the cluster, operating systems, providers of external storage (Ganeti 3.0 query table)."""

"""Verification of the cluster, part by part: each subject in a file of its own."""

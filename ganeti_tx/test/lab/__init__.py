"""Tests in virtual machines."""

"""Tests of completion in shells."""

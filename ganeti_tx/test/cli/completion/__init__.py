"""Tests of what is offered while a command line is typed."""

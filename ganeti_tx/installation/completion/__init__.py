"""Completion of command lines in bash, zsh and fish: what the shells read, and the program that they ask."""

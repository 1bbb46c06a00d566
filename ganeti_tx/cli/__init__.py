"""The commands: parsing, LUXI, output. Imports no Twisted."""

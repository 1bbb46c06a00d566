"""Manual pages, made from what the programs declare of themselves."""

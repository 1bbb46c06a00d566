"""The GanetiError tree and its wire form."""

"""Configurations of older versions, as dicts and lists, brought to the layout of today (reference: config-history.json).

Each step looks at what is there, not at the version, so it does nothing where there is nothing to do. What is of another
type than it should be is left to the decoder's judgement. No step chooses by chance: whoever reads the same text, at
whatever time, gets the same configuration.
"""

"""ganeti-listrunner: a command or a script on many machines at once."""

"""The checklists of doc/ are true: the example of each is applied to a copy of the program, counted, and run."""

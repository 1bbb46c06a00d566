"""The daemon that answers LUXI and runs the job queue."""

"""Every opcode of the job queue, one file a noun."""

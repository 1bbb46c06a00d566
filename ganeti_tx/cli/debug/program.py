"""The program gnt-debug."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-debug",
    "Tests parts of the cluster",
    {
        "delay": Entry("debug.delay", "DELAY", "run a job that only takes time"),
        "iallocator": Entry("debug.allocator", "IALLOCATOR_TEST", "ask an allocator without acting on its answer"),
        "locks": Entry("debug.locks", "LOCKS", "show the locks, who holds them and who waits"),
        "metad": Entry("debug.metad", "METAD", "talk to the metadata daemon of this node"),
        "submit-job": Entry("debug.submit", "SUBMIT_JOB", "submit jobs from files with opcodes in JSON"),
        "test-jobqueue": Entry("debug.jobqueue", "TEST_JOBQUEUE", "test the job queue with jobs that change nothing"),
        "test-osparams": Entry("debug.os_params", "TEST_OSPARAMS", "test that secret OS parameters reach a job"),
        "wconfd": Entry("debug.wconfd", "WCONFD", "talk to the configuration daemon"),
    },
    {"allocator": "iallocator"},
)

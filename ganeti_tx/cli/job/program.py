"""The program gnt-job."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-job",
    "Shows and changes jobs",
    {
        "archive": Entry("job.archive", "ARCHIVE", "move ended jobs to the archive"),
        "autoarchive": Entry("job.archive", "AUTOARCHIVE", "move all jobs that ended so long ago to the archive"),
        "cancel": Entry("job.change", "CANCEL", "cancel jobs"),
        "change-priority": Entry("job.change", "CHANGE_PRIORITY", "change the priority of jobs that wait"),
        "info": Entry("job.info", "INFO", "show all about jobs"),
        "list": Entry("job.list", "LIST", "list jobs"),
        "list-fields": Entry("job.list", "LIST_FIELDS", "list the fields that list can show"),
        "wait": Entry("job.watch", "WAIT", "wait for a job to end, without its messages"),
        "watch": Entry("job.watch", "WATCH", "follow jobs and their messages"),
    },
    {"show": "info"},
)

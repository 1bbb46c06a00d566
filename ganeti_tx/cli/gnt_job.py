"""The program gnt-job."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-job",
    "Shows and changes jobs",
    {
        "archive": Entry("job_archive", "ARCHIVE", "move ended jobs to the archive"),
        "autoarchive": Entry("job_archive", "AUTOARCHIVE", "move all jobs that ended so long ago to the archive"),
        "cancel": Entry("job_change", "CANCEL", "cancel jobs"),
        "change-priority": Entry("job_change", "CHANGE_PRIORITY", "change the priority of jobs that wait"),
        "info": Entry("job_info", "INFO", "show all about jobs"),
        "list": Entry("job_list", "LIST", "list jobs"),
        "list-fields": Entry("job_list", "LIST_FIELDS", "list the fields that list can show"),
        "wait": Entry("job_watch", "WAIT", "wait for a job to end, without its messages"),
        "watch": Entry("job_watch", "WATCH", "follow a job and its messages"),
    },
    {"show": "info"},
)

Jobs take turns: a job goes back to the queue after each opcode, and when it cannot get its locks in time, if others that are as
urgent wait. A job that waits for locks becomes more urgent with each try. A changed running limit takes effect at once.

``gnt-job cancel`` stops a running job at its next safe point and takes back what it has done; the job's log says what that was. Its
answer is true: canceled, will be canceled, was killed, or finished. ``gnt-job cancel --kill --yes-do-it`` ends a job's process at
once. The locks of a job that was killed or whose process died are free within a second.

A job that depends on itself, on a later job, on one that is gone, or on a refused one of the same submission is refused.

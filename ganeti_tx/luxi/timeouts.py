"""How long LUXI's two ends wait, in seconds (Ganeti 3.0 LUXI table, timeouts)."""

#: A client waits so long for a full listen queue to take it in.
CONNECT = 30.0
#: A client waits so long for the socket to take or give the next bytes.
READ_WRITE = 180.0
#: A client waits so long for a whole answer, however steadily its bytes drip in.
WHOLE_ANSWER = 2 * READ_WRITE
#: A server closes a connection that has brought no whole request for so long, or has taken none of its answer.
SERVER_IDLE = 180.0
#: A server waits so long for the rest of a request.
SERVER_FRAME = 60.0
#: WaitForJobChange answers after so long at the latest, whatever the client asks for.
WAIT_FOR_JOB_CHANGE_CAP = 89
#: What a client asks for in WaitForJobChange when nothing else is said.
CLIENT_POLL = 60
#: What a client gives AutoArchiveJobs when nothing else is said.
AUTO_ARCHIVE = 89
#: How long CancelJob may take.
CANCEL_JOB = 44

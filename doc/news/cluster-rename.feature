``gnt-cluster rename`` gives the cluster another name and address: simple configuration, known hosts and the Remote API's certificate follow on all
nodes. What fails on the way, or whose job dies, is taken back.

"""The data plane: sockets around a dispatcher that knows none.

A request's way, a file each:

    server          bytes of a client's connection become a head and a body
    front           refused by path, method or key; or answered here; or relayed
    intake          body and headers become a `Request` and the bytes to send: `Work` (work.py)
    driver          hands it to the dispatcher, and obeys its orders
    exchange        waits for its node, tries it, perhaps tries another
    attempt         one try: a head for this node, the body, patience for the answer
    upstream        a kept or new connection to the node; `targets` has one pool of them an address (`origin`)

and back:

    answers         by kind: passed on as it comes, kept for later, or (`stream_answer`) event by event
    reply           framed as the client can take it

Beside the way: `app` puts it all together and stops it; `routes` and `access` say which paths and whose keys; `probes`
asks nodes how they are, by `fetch`; `feedback` reads what clients say of answers; `deadlines` ends what takes too long,
and `hangup` sees who has left; `settings` holds the time-outs and limits; `trusted_peers` knows whose word counts on
whose behalf they ask; `tls` exchanges certificates.
"""

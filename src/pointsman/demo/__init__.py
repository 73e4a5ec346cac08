"""`pointsman demo`: the same requests through every policy, over real sockets, to a fleet in trouble.

A few emulated engines are started as processes; for every policy in turn they forget everything, a fresh gateway is put
in front of them, and the same demand is replayed through it. What comes out is a table, JSON, or an HTML report.
"""

"""`pointsman demo`: the same requests through every policy, over real sockets, before an uneven fleet that degrades.

A few emulated engines are started as processes; for every policy in turn they forget everything, a fresh gateway is put
before them, and one recorded demand is replayed through it. What comes out is a table, JSON, or an HTML report.
"""

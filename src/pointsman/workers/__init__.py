"""Several processes on one data port: a supervisor that owns the sockets, and workers that share what they book."""

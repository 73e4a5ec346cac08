"""HTTP/1.1 without sockets: llhttp reads, plain bytes are written."""

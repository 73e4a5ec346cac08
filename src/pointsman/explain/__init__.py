"""`pointsman explain`: the whole story of one request, for people."""

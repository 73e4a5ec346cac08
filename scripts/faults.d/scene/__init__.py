"""What the scenes share: processes, a raw client with a log, readings of all sides, and a report of claims."""

"""The random lives of a small fleet: what clients, streams, nodes and operators may do, as rules of a state machine."""

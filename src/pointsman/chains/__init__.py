"""Models too large for one server: which blocks to put where, and which chains of servers to send jobs through."""

"""TLS on the data port with a certificate that can change while connections are open.

A listener keeps the context it was made with. So that one hands each new handshake on to the context in use, from
within the callback for the server's name, which OpenSSL calls for a client that names none too. A connection keeps the
context of its handshake.
"""

import ssl


class Certificates:
    """`listening` is the context for the listener; `replace` what it shows."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.listening = context
        self._current = context
        context.sni_callback = self._hand_on

    def replace(self, context: ssl.SSLContext) -> None:
        """Handshakes from now on get this context's certificate."""
        self._current = context

    def _hand_on(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current

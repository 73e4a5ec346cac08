"""The OpenAI API's bodies: read as far as placing and accounting need, changed only where declared."""

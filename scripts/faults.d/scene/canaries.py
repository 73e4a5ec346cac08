"""Secrets that are easy to find again, however they were written down."""

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from urllib.parse import quote

CORE_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Canary:
    """A key with characters that encodings change, around a `core` that most of them leave alone."""

    name: str
    key: str
    core: str

    @classmethod
    def of(cls, name: str, seed: int) -> "Canary":
        core = hashlib.sha256(f"{name} {seed}".encode()).hexdigest()[:CORE_LENGTH]
        return cls(name, f"cn+{name}/{core}/%2B~", core)

    def forms(self) -> dict[str, bytes]:
        """How it might be written: as it is, or in an encoding, whatever surrounds it."""
        key = self.key.encode()
        forms = {
            "as it is": self.core.encode(),
            "hexadecimal": self.core.encode().hex().encode(),
            "URL-encoded": quote(self.key, safe="").encode(),
            "JSON": json.dumps(self.key).strip('"').encode(),
            "digest": hashlib.sha256(key).hexdigest().encode(),
        }
        for offset in range(3):
            forms[f"base64 at offset {offset}"] = _base64_inside(self.core.encode(), offset)
        return forms

    def found(self, text: bytes) -> list[str]:
        """The forms in which `text` has it."""
        lowered = text.lower()
        return [f"{self.name}: {form}" for form, value in self.forms().items() if value in text or value in lowered]

    def planted(self) -> list[bytes]:
        """Texts that have it in them, each in another way: a search must find it in all."""
        texts = [f"{before}{self.key}{before}".encode() for before in ("", "u", "us", "use")]
        encodings = (bytes, base64.b64encode, base64.urlsafe_b64encode, binascii.hexlify, _quoted, _upper_hexlified)
        return [encode(text) for text in texts for encode in encodings]


def _quoted(text: bytes) -> bytes:
    return quote(text.decode(), safe="").encode()


def _upper_hexlified(text: bytes) -> bytes:
    return binascii.hexlify(text).upper()


def _base64_inside(text: bytes, offset: int) -> bytes:
    """The base64 of `text` somewhere in a longer text, without what its neighbours touch.

    Hexadecimal digits never encode to the two signs in which base64 for URLs differs.
    """
    encoded = base64.b64encode(b"\0" * offset + text)
    begin = -(-8 * offset // 6)
    end = 8 * (offset + len(text)) // 6
    return encoded[begin:end]

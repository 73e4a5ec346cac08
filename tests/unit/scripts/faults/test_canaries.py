"""A key is found however it was written down."""

from scene.canaries import Canary

KEY = Canary.of("client", 1)


def test_every_encoding_is_found() -> None:
    assert all(KEY.found(text) for text in KEY.planted())
    assert {form for text in KEY.planted() for form in KEY.found(text)} >= {
        f"client: base64 at offset {offset}" for offset in range(3)
    }


def test_another_key_is_not_found() -> None:
    other = Canary.of("node", 1)
    assert not any(other.found(text) for text in KEY.planted())
    assert not KEY.found(b"")

"""JSON as strangers write it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.wire.decoding import decoder, mended
from pointsman.wire.openai.account import ChatAccount, TypedAccount
from pointsman.wire.openai.chunk import usage_of

DEEP = b"[" * 50_000 + b"]" * 50_000


@pytest.mark.parametrize("data", [DEEP, b'{"a":' + DEEP + b"}", b"", b"\xff", b'"\xff"', b"1e999", b"{}x"])
def test_everything_wrong_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decoder(dict[str, msgspec.Raw])(data)


@given(st.text(alphabet=st.characters(codec=None)))
def test_mended_text_keeps_its_length_and_decodes(text: str) -> None:
    data = b'"%b"' % "".join(f"\\u{ord(one):04x}" for one in text if ord(one) < 0x10000).encode()
    assert len(mended(data)) == len(data)
    decoder(str)(mended(data))


def test_nothing_to_mend() -> None:
    data = rb'"\ud83d\ude00"'
    assert mended(data) is data


def test_surrogates_are_mended_until_it_is_malice() -> None:
    decoder(str)(mended(b'"%b"' % (rb"\ud83dx" * 10_000)))
    with pytest.raises(msgspec.DecodeError):
        decoder(str)(mended(b'"%b"' % (rb"\ud83dx" * 10_001)))


@pytest.mark.parametrize("account", [ChatAccount(), TypedAccount()])
def test_deep_events_are_no_accident(account: ChatAccount | TypedAccount) -> None:
    assert not account.see(b'data: {"usage":' + DEEP + b"}\n\n")
    assert usage_of(b'{"usage":' + DEEP + b"}").prompt == 0

"""Addresses of nodes."""

import pytest

from pointsman.gateway.origin import Origin


def test_origins() -> None:
    assert Origin.parse("http://h") == Origin("h", 80, False, b"", b"h")
    assert Origin.parse("https://h/a/b/") == Origin("h", 443, True, b"/a/b", b"h")
    assert Origin.parse("http://[::1]:8000") == Origin("::1", 8000, False, b"", b"[::1]:8000")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h:80",
        "ftp://h",
        "http://",
        "http://h:x",
        "http://h:0",
        "http://a..b",
        "http://" + "a" * 64,
        "http://a b",
        "http://h/a b",
        "http://h/\r\nx: y",
        "http://h?a=b",
        "http://h/#a",
        "http://\u2603",
        "http://h/\u00e9",
    ],
)
def test_no_addresses(url: str) -> None:
    with pytest.raises(ValueError, match="is not an http:// or https:// address"):
        Origin.parse(url)


@pytest.mark.parametrize("url", ["http://h:8000/v1", "http://h:8000/v1/", "http://h/engines/v1"])
def test_a_path_that_requests_bring_along_is_none_of_the_address(url: str) -> None:
    with pytest.raises(ValueError, match="ends in /v1: give the address without it"):
        Origin.parse(url)


@pytest.mark.parametrize(
    "url", ["http://u:secret@h", "http://secret@h:1/a", "http://u:a/secret@h", "h?k=secret", "#secret"]
)
def test_what_may_be_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="address") as refused:
        Origin.parse(url)
    assert "secret" not in str(refused.value)

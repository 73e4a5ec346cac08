import pytest

from pointsman.admin.hosts import Hosts


@pytest.mark.parametrize(
    ("listened_on", "host", "included"),
    [
        ("127.0.0.1", "127.0.0.1:9080", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LocalHost.:9080", True),
        ("127.0.0.1", "gateway.localhost:9080", True),
        ("127.0.0.1", "[::1]:9080", True),
        ("::1", "127.0.0.5", True),
        ("127.0.0.1", "10.0.0.5", False),
        ("10.0.0.5", "10.0.0.5:9080", True),
        ("10.0.0.5", "10.0.0.6:9080", False),
        ("10.0.0.5", "localhost", True),
        ("fd00::1", "[fd00:0::1]:1", True),
        ("0.0.0.0", "10.0.0.6:9080", True),
        ("::", "[fd00::9]", True),
        ("0.0.0.0", "evil.example:9080", False),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "evil-localhost", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "127.0.0.1@evil.example", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", ":9080", False),
        ("127.0.0.1", "[::1", False),
        ("admin.internal", "Admin.Internal:9080", True),
        ("127.0.0.1", "proxy.example", True),
    ],
)
def test_only_names_that_were_meant(listened_on: str, host: str, included: bool) -> None:
    assert Hosts(listened_on, ["Proxy.example."]).include(host) is included

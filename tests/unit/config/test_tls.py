"""What is wrong with a certificate, a key or an authority, by setting, file and reason."""

import ssl
from pathlib import Path

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.tls import node_context, server_context

FILES = Path(__file__).parents[2] / "fixtures" / "tls"
CERTIFICATE, KEY = str(FILES / "one.pem"), str(FILES / "one.key")


def test_without_a_certificate_there_is_no_tls() -> None:
    assert server_context("", "") is None
    assert node_context("") is None


def test_the_key_may_lie_in_the_same_file(tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(Path(KEY).read_bytes() + Path(CERTIFICATE).read_bytes())
    context = server_context(str(both), "")
    assert context is not None
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert server_context(CERTIFICATE, KEY) is not None


def test_nodes_have_to_prove_their_names() -> None:
    context = node_context(str(FILES / "ca.pem"))
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert len(context.get_ca_certs()) == 1


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text("no pem")
    (tmp_path / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    (tmp_path / "broken.key").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    (tmp_path / "encrypted.key").write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n")
    return tmp_path


@pytest.mark.parametrize(
    ("certificate", "key", "said"),
    [
        ("", KEY, "`tls_key`: there is no `tls_cert` that it belongs to"),
        ("/none", KEY, "`tls_cert`: '/none' cannot be read: No such file or directory"),
        (CERTIFICATE, "/none", "`tls_key`: '/none' cannot be read: No such file or directory"),
        ("a\0b", KEY, "`tls_cert`: 'a\\x00b' cannot be read: embedded null byte"),
        ("text", KEY, "text' holds no certificate in PEM"),
        (CERTIFICATE, "", "one.pem' holds no private key in PEM"),
        (
            CERTIFICATE,
            str(FILES / "two.key"),
            "two.key' cannot be used: it does not belong to the certificate in `tls_c",
        ),
        (CERTIFICATE, "encrypted.key", "`tls_key`: 'encrypted.key' cannot be used: it has a passphrase"),
        (CERTIFICATE, "broken.key", "`tls_key`: 'broken.key' cannot be used: "),
        ("broken.pem", KEY, "`tls_cert`: 'broken.pem' cannot be used: "),
    ],
)
def test_what_cannot_be_used_is_named(
    files: Path, monkeypatch: pytest.MonkeyPatch, certificate: str, key: str, said: str
) -> None:
    monkeypatch.chdir(files)
    with pytest.raises(ConfigError) as error:
        server_context(certificate, key)
    assert said in str(error.value)


@pytest.mark.parametrize("path", ["/none", "text", "broken.pem"])
def test_authorities_that_cannot_be_used_are_named(files: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(files)
    with pytest.raises(ConfigError, match=f"`node_ca_file`: '{path}' "):
        node_context(path)

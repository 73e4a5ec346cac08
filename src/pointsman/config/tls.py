"""Certificates and keys from files, made into what sockets need. What is wrong is told by setting, file and reason."""

import ssl
from pathlib import Path

from pointsman.config.flags import ConfigError

_REASONS = {
    "KEY_VALUES_MISMATCH": "it does not belong to the certificate in `tls_cert`",
    "KEY_TYPE_MISMATCH": "it does not belong to the certificate in `tls_cert`",
    "EE_KEY_TOO_SMALL": "the certificate's key is too short",
}


def server_context(certificate: str, key: str) -> ssl.SSLContext | None:
    """What the data port shows to clients, from PEM files; None without a certificate.

    `certificate` may hold the whole chain, its own certificate first, and the key too if `key` is empty.
    Raises ConfigError.
    """
    if not certificate:
        if key:
            raise ConfigError("`tls_key`: there is no `tls_cert` that it belongs to")
        return None
    _check_certificates(certificate, "tls_cert")
    if b"ENCRYPTED" in _pem(key or certificate, "tls_key", "PRIVATE KEY"):  # OpenSSL would ask at the terminal
        raise ConfigError(f"`tls_key`: {key or certificate!r} cannot be used: it has a passphrase")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key or None)
    except ssl.SSLError as error:
        raise ConfigError(f"`tls_key`: {key or certificate!r} cannot be used: {_reason(error)}") from None
    return context


def node_context(authorities: str) -> ssl.SSLContext | None:
    """What nodes with https addresses have to prove: their name, by a certificate that one of `authorities` signed.

    None for the authorities this system trusts. Raises ConfigError.
    """
    if not authorities:
        return None
    _check_certificates(authorities, "node_ca_file")
    return ssl.create_default_context(cafile=authorities)


def _check_certificates(path: str, setting: str) -> None:
    _pem(path, setting, "CERTIFICATE")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError as error:
        raise ConfigError(f"`{setting}`: {path!r} cannot be used: {_reason(error)}") from None


def _pem(path: str, setting: str, kind: str) -> bytes:
    """What the file holds, if there is a block of that kind."""
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigError(f"`{setting}`: {path!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    if f"{kind}-----".encode() not in text:
        raise ConfigError(f"`{setting}`: {path!r} holds no {kind.lower()} in PEM")
    return text


def _reason(error: ssl.SSLError) -> str:
    """OpenSSL's one word for it, if it has one, in ours."""
    word = error.reason or "NO_VALID_PEM"
    return _REASONS.get(word, word.lower().replace("_", " "))

"""Keys: a party's private key and its self-signed certificate, pinned by fingerprint."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import InputError, OutputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.parties.errors import SessionError, require_libraries

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_EARLY = dt.timedelta(minutes=5)


def check_name(name: object) -> str:
    """Return a party's name, or raise a ParameterError if it cannot be one.

    >>> check_name("hospital-a")
    'hospital-a'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            "The name of a party must have 1 to 40 letters, digits, dots, dashes or underscores, "
            "and start with a letter or digit."
        )
    return name


def make_keys(
    name: str, folder: str | os.PathLike[str] = ".", *, address: str = "HOST:PORT", days: int = 365
) -> tuple[Path, Path, str]:
    """Write a new private key with its certificate, and the party's public entry for session files.

    Parameters
    ----------
    name : str
        The party's name.
    folder : path
        Where NAME.pem (private, readable by its owner alone) and NAME.toml (public) are written.
    address : str
        The host and port where other parties reach this one.
    days : int
        How long the certificate is valid.

    Returns
    -------
    tuple of Path, Path, str
        The private file, the public file and the fingerprint.
    """
    require_libraries()
    from cryptography.hazmat.primitives import serialization

    check_name(name)
    require("make_keys", "days", days, IntIn(1, 3650))
    private, public = Path(folder, f"{name}.pem"), Path(folder, f"{name}.toml")
    for path in (private, public):
        if path.exists():
            raise OutputError(
                f"{path} is there already; keys are never replaced. Remove it or name another folder."
            )
    key, certificate = _self_signed(name, days)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    der = certificate.public_bytes(serialization.Encoding.DER)
    try:
        private.parent.mkdir(parents=True, exist_ok=True)
        _write(private, pem + certificate.public_bytes(serialization.Encoding.PEM), 0o600)
        _write(public, party_entry(name, address, der).encode(), 0o644)
    except OSError as error:
        raise OutputError(f"{private.parent} cannot be written: {os.strerror(error.errno or 0)}.") from None
    return private, public, certificate_fingerprint(der)


def party_entry(name: str, address: str, der: bytes) -> str:
    """Return a party's entry for a session file."""
    return (
        "[[party]]\n"
        f"name = {json.dumps(name)}\n"
        f"address = {json.dumps(address)}\n"
        f'fingerprint = "{certificate_fingerprint(der)}"\n'
        f'certificate = "{base64.b64encode(der).decode()}"\n\n'
    )


def certificate_fingerprint(der: bytes) -> str:
    """Return the fingerprint of a certificate: SHA-256 in hexadecimal digits.

    >>> certificate_fingerprint(b"")[:16]
    'sha256:e3b0c4429'
    """
    return "sha256:" + hashlib.sha256(der).hexdigest()


def decode_certificate(name: str, text: str, pinned: str) -> bytes:
    """Return the certificate of a session file in binary form; refuse one that its fingerprint does not fit."""
    from cryptography import x509

    try:
        der = base64.b64decode(text, validate=True)
        x509.load_der_x509_certificate(der)
    except (binascii.Error, ValueError):
        raise SessionError(f"The certificate of party '{name}' in the session file cannot be read.") from None
    if certificate_fingerprint(der) != pinned.lower().replace(" ", ""):
        raise SessionError(f"The certificate of party '{name}' does not have the fingerprint beside it.")
    return der


def valid_until(der: bytes) -> dt.datetime:
    """Return when a certificate expires."""
    from cryptography import x509

    return x509.load_der_x509_certificate(der).not_valid_after_utc


def check_validity(name: str, der: bytes) -> None:
    """Raise a SessionError if a certificate is not valid at this moment."""
    from cryptography import x509

    certificate = x509.load_der_x509_certificate(der)
    now = dt.datetime.now(dt.UTC)
    if now > certificate.not_valid_after_utc:
        raise SessionError(
            f"The certificate of party '{name}' expired on {certificate.not_valid_after_utc:%Y-%m-%d}; "
            f"make a new one with 'discreet party keys --name {name}'."
        )
    if now < certificate.not_valid_before_utc:
        raise SessionError(
            f"The certificate of party '{name}' is valid only from {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} "
            "UTC; check the clocks."
        )


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file, which nobody but its owner may read or change."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        with path.open("rb") as stream:
            mode, pem = os.fstat(stream.fileno()).st_mode, stream.read()
    except OSError as error:
        raise InputError(f"The key file {path} cannot be read: {os.strerror(error.errno or 0)}.") from None
    try:
        key = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"The key file {path} holds no private key of Ed25519 without a password.")
    if os.name == "posix" and mode & 0o077:
        raise InputError(
            f"The key file {path} can be read or changed by other users of this machine; run 'chmod 600 {path}'. If "
            "one of them may have read it, make new keys."
        )
    return key


def check_key(name: str, path: Path, der: bytes) -> None:
    """Raise a SessionError unless a file holds the private key of a certificate, and its owner alone can read it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        key = read_private_key(path)
    except InputError as error:
        raise SessionError(str(error)) from None
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    expected = x509.load_der_x509_certificate(der).public_key().public_bytes(*form)
    if key.public_key().public_bytes(*form) != expected:
        raise SessionError(
            f"The key file {path} does not fit the certificate of party '{name}' in the session file."
        )


def _self_signed(name: str, days: int) -> tuple[Ed25519PrivateKey, Certificate]:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = Ed25519PrivateKey.generate()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usages, critical=False)
        .sign(key, None)
    )
    return key, certificate


def _write(path: Path, content: bytes, mode: int) -> None:
    # Created with its final rights and never replaced: there is no moment at which others could read the key.
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)

"""Signatures: an Ed25519 signature of release.json, which holds the digests of all other files of a release."""

from __future__ import annotations

import base64
import binascii
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.folders import RECORD, SIGNATURE, is_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_LENGTH = 64
"""The number of bytes of an Ed25519 signature."""


def signing_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """Return the private key in a file, which nobody but its owner may read; `discreet party keys` makes one."""
    _require_library()
    from discreet.parties.network.keys import read_private_key

    return read_private_key(Path(path))


def verifying_key(path: str | os.PathLike[str]) -> Ed25519PublicKey:
    """Return the public key of a signer: from a party's public entry (.toml), a certificate or a public key (PEM)."""
    _require_library()
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from discreet.parties.network.keys import decode_certificate

    content = _content(Path(path))
    try:
        if Path(path).suffix == ".toml":
            (entry,) = tomllib.loads(content.decode())["party"]
            der = decode_certificate(entry["name"], entry["certificate"], entry["fingerprint"])
            key = x509.load_der_x509_certificate(der).public_key()
        elif b"BEGIN PUBLIC KEY" in content:
            key = serialization.load_pem_public_key(content)  # type: ignore[assignment]  # checked below
        else:
            key = x509.load_pem_x509_certificate(content).public_key()
    except (ValueError, TypeError, KeyError, AttributeError, DiscreetError):
        raise InputError(f"{path} holds no certificate or public key of one signer.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path} holds a key of another kind than Ed25519.")
    return key


def write_signature(record: Path, key: Ed25519PrivateKey) -> Path:
    """Sign a release.json, byte by byte, and write the signature beside it; return its path."""
    path = record.with_name(SIGNATURE)
    path.write_bytes(base64.b64encode(key.sign(record.read_bytes())) + b"\n")
    return path


def signature_bytes(record: Path) -> bytes | None:
    """Return the signature beside a release.json; None where there is none, or the file is something else."""
    path = record.with_name(SIGNATURE)
    if not is_regular(path):
        return None
    try:
        signature = base64.b64decode(path.read_bytes().removesuffix(b"\n"), validate=True)
    except (OSError, binascii.Error):
        return None
    return signature if len(signature) == _LENGTH else None


def is_signed_by(folder: str | os.PathLike[str], signer: str | os.PathLike[str]) -> bool:
    """Return whether the release.json of a folder is signed by the owner of a key.

    The signature covers release.json, and through the digests in it every other file, but not whether those files are
    still the ones that were written: ``discreet check --signed-by`` looks at both.

    Parameters
    ----------
    folder : path
        The folder of a release.
    signer : path
        The signer's public entry that ``discreet party keys`` wrote (.toml), or a certificate or public key (PEM).
    """
    from cryptography.exceptions import InvalidSignature

    key, record = verifying_key(signer), Path(folder) / RECORD
    signature = signature_bytes(record)
    if signature is None or not is_regular(record):
        return False
    try:
        key.verify(signature, record.read_bytes())
    except InvalidSignature:
        return False
    return True


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"The key file {path} cannot be read: {os.strerror(error.errno or 0)}.") from None


def _require_library() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise InputError("Signatures need a cryptographic library: pip install 'discreet[sign]'.") from None

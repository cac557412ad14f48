"""TLS 1.3 with certificates on both sides, which must be exactly those that the session file pins."""

from __future__ import annotations

import hashlib
import ssl
from asyncio import StreamWriter
from pathlib import Path

from discreet.parties.errors import SessionError
from discreet.parties.network.session import Member, Session


def tls_context(session: Session, name: str, key: Path, *, server: bool) -> ssl.SSLContext:
    """Return the context of one side: it trusts the certificates of the other parties and nothing else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION
    if server:
        context.num_tickets = 0
    for member in session.members:
        if member.name != name:
            context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(member.certificate))
    try:
        context.load_cert_chain(key)
    except (ssl.SSLError, OSError):
        raise SessionError(f"The key file {key} does not hold a key and its certificate.") from None
    return context


def shown_by(writer: StreamWriter) -> str:
    """Return the fingerprint of the certificate that the other side showed."""
    shown = writer.get_extra_info("ssl_object").getpeercert(True)
    return "sha256:" + hashlib.sha256(shown or b"").hexdigest()


def holds_certificate(writer: StreamWriter, member: Member) -> bool:
    """Whether the other side showed the certificate of a party."""
    return shown_by(writer) == member.fingerprint

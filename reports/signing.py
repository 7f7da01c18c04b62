"""Signatures of a bundle's statement: DSSE with an Ed25519 key, made and checked offline."""

from __future__ import annotations

from pathlib import Path

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from recipe.values import Secret
from reports.files import BundleError, json_bytes

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAKE = "make one with 'openssl genpkey -algorithm ed25519 -out qualify.key', mode 0600"
MAKE_PUBLIC = "get it with 'openssl pkey -in qualify.key -pubout -out qualify.pub'"


class SigningError(BundleError):
    """A key or a signature is not what it must be. The text is one line, and holds no key."""


class Signing:
    """A private key that signs. It cannot print itself: ``secret`` is its text, for the redactor alone."""

    def __init__(self, private: Ed25519PrivateKey, text: str) -> None:
        self._signer = CryptoSigner(private)
        self.key_id = self._signer.public_key.keyid
        self.secret = Secret("signing key", "".join(text.splitlines()[1:-1]))

    def sign(self, payload: bytes) -> bytes:
        """Return the DSSE envelope, as JSON, around a payload."""
        envelope = Envelope(payload, PAYLOAD_TYPE, {})
        envelope.sign(self._signer)
        return json_bytes(envelope.to_dict())


def load(path: Path) -> Signing:
    """Read a private key from a PEM file that nobody else may read. Raises `SigningError`."""
    try:
        # The group may read: that is how systemd's credentials come, with an access list for one user.
        others = path.stat().st_mode & 0o027
        data = path.read_bytes()
    except OSError as error:
        raise SigningError(f"{path}: {error.strerror}; {MAKE}") from error
    if others:
        raise SigningError(f"{path}: others may read or change this private key; 'chmod 600' it, or {MAKE}")
    try:
        key = load_pem_private_key(data, password=None)
    except TypeError as error:
        raise SigningError(f"{path}: the key is encrypted; a run has nobody to ask for its password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SigningError(f"{path}: not a private key in PEM; {MAKE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SigningError(f"{path}: not an Ed25519 key; {MAKE}")
    return Signing(key, data.decode("ascii"))


def load_public(path: Path) -> SSlibKey:
    """Read a public Ed25519 key from a PEM file. Raises `SigningError`."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise SigningError(f"{path}: {error.strerror}; name the signer's public key: {MAKE_PUBLIC}") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SigningError(f"{path}: not a public key in PEM; {MAKE_PUBLIC}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SigningError(f"{path}: not an Ed25519 key; {MAKE_PUBLIC}")
    return SSlibKey.from_crypto(key)


def verified(data: bytes, key: SSlibKey) -> bytes:
    """Return the payload of an envelope that the key has signed. Raises `SigningError`, with its own message each."""
    try:
        envelope = Envelope.from_dict(msgspec.json.decode(data, type=dict))
    except (msgspec.DecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SigningError(f"the signature is no DSSE envelope: {error}") from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise SigningError(f"the signature is of {envelope.payload_type!r}, not of {PAYLOAD_TYPE}")
    if key.keyid not in envelope.signatures:
        signers = ", ".join(envelope.signatures) or "nobody"
        raise SigningError(f"unknown signer: signed by {signers}, not by the given key {key.keyid}")
    try:
        envelope.verify([key], 1)
    except VerificationError as error:
        raise SigningError("the signature does not fit: statement or signature was altered") from error
    return envelope.payload

"""What the parts of the extension share: the key of the gateway, how they replace functions, and whether networks overlap."""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
import re
import time

DEFAULT_ACCOUNT = "000000000000"


def root_key_id(secret, account=None):
    """The access key id of an account's root, the default account's without one. ministack checks no signature for it: the id itself is the secret."""
    text = "root access key" if account is None else f"root access key of {account}"
    return f"ROOT{account or ''}{hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()[:28].upper()}"


def root_account(key, secret):
    """The account whose root has this access key; None for every other key. An account needs no record: it is whatever its root makes there."""
    if not key.isascii():
        return None
    if hmac.compare_digest(key, root_key_id(secret)):
        return DEFAULT_ACCOUNT
    account = key[4:16]
    named = re.fullmatch(r"[0-9]{12}", account) and hmac.compare_digest(key, root_key_id(secret, account))
    return account if named else None


def verified(token, secret):
    """The claims of a compact HS256 JWS signed with the shared key, or None when it isn't one or has expired."""
    try:
        signed, _, signature = token.rpartition(".")
        header, _, payload = signed.partition(".")
        if json.loads(decode(header)).get("alg") != "HS256":
            return None
        expected = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(expected, decode(signature)):
            return None
        claims = json.loads(decode(payload))
    except (ValueError, AttributeError, binascii.Error):
        return None
    return claims if isinstance(claims, dict) and claims.get("gatewayExp", 0) > time.time() else None


def decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def replace(module, name, make):
    """Replaces a function by `make(original)`; a name that is gone ends the process instead of leaving a hole."""
    setattr(module, name, make(getattr(module, name)))


def overlap(one, other):
    """Whether two CIDR blocks have addresses in common. EC2 takes a block with bits behind its prefix for the network it lies in."""
    return ipaddress.ip_network(one, strict=False).overlaps(ipaddress.ip_network(other, strict=False))

"""The registry of Amazon ECR: its passwords, and what their owners pull and push."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time

from .shared import replace, verified

_HOURS = 12
_HOST = re.compile(r"([0-9]{12})\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\.")
# What a request needs (ECR User Guide, "IAM permissions for pulling an image" and "... for pushing an image"; containers/skopeo#726 on tags).
_ACTIONS = {
    ("manifest", "GET"): "BatchGetImage", ("manifest", "HEAD"): "BatchGetImage", ("manifest", "PUT"): "PutImage",
    ("blob", "GET"): "GetDownloadUrlForLayer", ("blob", "HEAD"): "BatchCheckLayerAvailability",
    ("blob_uploads", "POST"): "InitiateLayerUpload", ("blob_upload_session", "PATCH"): "UploadLayerPart",
    ("blob_upload_session", "GET"): "UploadLayerPart", ("blob_upload_session", "PUT"): "CompleteLayerUpload",
    ("tags_list", "GET"): "ListImages",
}


def extend(app, secret):
    """A password is for the principal that asked for it, in one region, for twelve hours; each request is authorized as that principal.

    ECR User Guide, "Private registry authentication": "the permission scope matches that of the IAM principal used to retrieve" it. ministack
    gives all callers one password, and requires none.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id, get_region, json_response, request_scope
    from ministack.services import ecr

    # Another key than that of the gateway's assertions, so that a password isn't one.
    key = hmac.new(secret, b"passwords of ECR", hashlib.sha256).digest()

    def token(_original):
        def call(_data):
            expires = int(time.time()) + _HOURS * 3600
            claims = {"key": evaluator._verified_key.get(), "account": get_account_id(), "region": get_region(), "gatewayExp": expires}
            password = signed(claims, key)
            return json_response({"authorizationData": [{
                "authorizationToken": base64.b64encode(f"AWS:{password}".encode()).decode(),
                "expiresAt": expires,
                "proxyEndpoint": f"https://{get_account_id()}.dkr.ecr.{get_region()}.amazonaws.com",
            }]})

        return call

    def refused(status, code, message, host=""):
        status, headers, body = ecr._registry_error(status, code, message)
        if status == 401:
            headers["WWW-Authenticate"] = f'Basic realm="https://{host}/",service="ecr.amazonaws.com"'
        return status, headers, body

    def denial(claims, action, region, arn):
        """Why the owner of a password may not do this; None if it may."""
        # The request itself has no signature.
        evaluator._anonymous.set(False)
        with request_scope(claims["account"], region):
            denied = evaluator.enforce(claims["key"], action, "ecr", region, arn)
        if denied is None:
            return None
        if isinstance(denied, evaluator.AuthError):
            return denied.message
        explicit = denied.decision == "Deny"
        return actions.identity_denial_message(action, denied.principal_arn, arn, explicit)

    def registry(original):
        async def handle(method, path, headers, body, query_params):
            if not app._is_ecr_registry_path(path):
                return await original(method, path, headers, body, query_params)
            host = headers.get("host", "")
            place = _HOST.match(host)
            if place is None:
                return refused(404, "UNSUPPORTED", f"{host} is not a registry of Amazon ECR")
            account, region = place.groups()
            claims = claims_of(headers.get("authorization", ""), key)
            if claims is None or claims["region"] != region:
                return refused(401, "UNAUTHORIZED", "Not Authorized", host)
            verb, name, _ = ecr._parse_v2_path(path) or ("unknown", "", "")
            if verb != "ping":
                action = _ACTIONS.get((verb, method.upper()))
                if action is None:
                    return refused(405, "UNSUPPORTED", "The operation is unsupported.")
                reason = denial(claims, f"ecr:{action}", region, f"arn:aws:ecr:{region}:{account}:repository/{name}")
                if reason is not None:
                    return refused(403, "DENIED", reason)
            return await original(method, path, headers, body, query_params)

        return handle

    replace(ecr, "_get_authorization_token", token)
    replace(app, "_handle_ecr_registry_request", registry)


def signed(claims, key):
    """A compact HS256 JWS."""
    parts = [json.dumps(part, separators=(",", ":")).encode() for part in ({"alg": "HS256"}, claims)]
    text = ".".join(map(encode, parts))
    return f"{text}.{encode(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


def encode(part):
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def claims_of(authorization, key):
    """The claims of the password in a header for Basic authentication; None where it is none of ours, or has expired."""
    kind, _, text = authorization.partition(" ")
    try:
        user, _, password = base64.b64decode(text).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return verified(password, key) if kind.lower() == "basic" and user == "AWS" else None

"""Authorization of calls to the services that the gateway answers itself."""

import contextvars
import json

from .authorization import CALLS
from .shared import replace, verified

_assertion = contextvars.ContextVar("fleet_assertion", default=None)

# The services, by the names that sign their requests, and botocore's names of their models (for the tags in requests).
SERVICES = {"eks": "eks", "eks-auth": "eks-auth", "aps": "amp", "grafana": "grafana"}


def extend(app, secret):
    """These calls are authorized here as the gateway's assertion says, and answered with the caller's identity only."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core import router

    def action(original):
        def name(service, method, path, headers, body, query_params):
            if service not in SERVICES:
                return original(service, method, path, headers, body, query_params)
            _assertion.set(verified(headers.get("x-fleet-assertion", ""), secret))
            return f"{service}:{(_assertion.get() or {}).get('action', 'NotAsserted')}"

        return name

    def asserted(call):
        claims = _assertion.get() or {}
        call.resources = [claims.get("resource", "*")]
        call.context = claims.get("context", {})
        for further in claims.get("also", []):
            # Of another service with its name: sso:GetProfile.
            of, _, name = further["action"].rpartition(":")
            of = of or call.service
            call.also.append((of, f"{of}:{name}", further["resource"], {}))
        for role in claims.get("passRoles", []):
            call.passes_role(role["arn"], role["service"])

    async def identity(_method, _path, _headers, _body, _query_params):
        if _assertion.get() is None:
            return 403, {"Content-Type": "application/json"}, b'{"message":"this API is served by the gateway only"}'
        return 200, {"Content-Type": "application/json"}, json.dumps({"caller": evaluator.caller_arn()}).encode()

    replace(actions, "extract_iam_action", action)
    for service, model in SERVICES.items():
        router.SERVICE_PATTERNS.setdefault(service, {"credential_scope": service})
        actions.SERVICE_TO_IAM_NAMESPACE[service] = service
        actions._BOTOCORE_SERVICE_MAP[service] = [model]
        CALLS[service] = asserted
        app.SERVICE_HANDLERS[service] = identity

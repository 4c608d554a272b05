"""Authorization of EKS calls."""

import contextvars
import json

from .authorization import CALLS
from .shared import replace, verified

_assertion = contextvars.ContextVar("fleet_assertion", default=None)


def extend(app, secret):
    """EKS calls are authorized here as the gateway's assertion says, and answered with the caller's identity only."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator

    def action(original):
        def name(service, method, path, headers, body, query_params):
            if service != "eks":
                return original(service, method, path, headers, body, query_params)
            _assertion.set(verified(headers.get("x-fleet-assertion", ""), secret))
            return f"eks:{(_assertion.get() or {}).get('action', 'NotAsserted')}"

        return name

    def asserted(call):
        claims = _assertion.get() or {}
        call.resources = [claims.get("resource", "*")]
        call.context = claims.get("context", {})
        for role in claims.get("passRoles", []):
            call.passes_role(role["arn"], role["service"])

    async def identity(_method, _path, _headers, _body, _query_params):
        if _assertion.get() is None:
            return 403, {"Content-Type": "application/json"}, b'{"message":"the EKS API is served by the gateway only"}'
        return 200, {"Content-Type": "application/json"}, json.dumps({"caller": evaluator.caller_arn()}).encode()

    replace(actions, "extract_iam_action", action)
    CALLS["eks"] = asserted
    app.SERVICE_HANDLERS["eks"] = identity

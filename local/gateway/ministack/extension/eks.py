"""Authorization of EKS calls."""

import json

from .shared import assertion, replace, verified


def extend_eks(app, secret):
    """EKS calls are authorized here as the gateway's assertion says, and answered with the caller's identity only."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator

    def asserted(headers):
        claims = verified(headers.get("x-fleet-assertion", ""), secret)
        assertion.set(claims)
        return claims

    def action(original):
        def name(service, method, path, headers, body, query_params):
            if service != "eks":
                return original(service, method, path, headers, body, query_params)
            claims = asserted(headers)
            return f"eks:{claims['action']}" if claims else "eks:NotAsserted"

        return name

    def resource(original):
        def arn(service, *request):
            return (assertion.get() or {}).get("resource", "*") if service == "eks" else original(service, *request)

        return arn

    def request_context(original):
        def keys(service, iam_action, body, params):
            found = original(service, iam_action, body, params)
            return {**found, **(assertion.get() or {}).get("context", {})} if service == "eks" else found

        return keys

    async def identity(_method, _path, _headers, _body, _query_params):
        if assertion.get() is None:
            return 403, {"Content-Type": "application/json"}, b'{"message":"the EKS API is served by the gateway only"}'
        return 200, {"Content-Type": "application/json"}, json.dumps({"caller": evaluator.caller_arn()}).encode()

    replace(actions, "extract_iam_action", action)
    replace(actions, "extract_resource_arn", resource)
    replace(actions, "request_tag_context", request_context)
    app.SERVICE_HANDLERS["eks"] = identity

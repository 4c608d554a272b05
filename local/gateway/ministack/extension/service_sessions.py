"""AssumeRole by AWS services."""

import contextvars
import dataclasses
import json

from .shared import replace, verified

_caller = contextvars.ContextVar("fleet_service_caller", default=None)


def extend(app, secret):
    """A role trusts a service, and no IAM principal is one: the gateway's assertion names the service that assumes it.

    ministack lets the account's root through wherever a trust policy names a service. Here it is judged as the service that it is.
    """
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import sts

    handler = app.SERVICE_HANDLERS["sts"]

    async def handle(method, path, headers, body, query_params):
        claims = verified(headers.get("x-fleet-assertion", ""), secret) or {}
        _caller.set(claims if "assumesAs" in claims else None)
        return await handler(method, path, headers, body, query_params)

    def identity(original):
        def caller(headers, query_params=None):
            found = original(headers, query_params)
            claims = _caller.get()
            if claims is None or not isinstance(found, dict):
                return found
            return {**found, "userArn": claims["assumesAs"], "principalType": "Service", "principalKeys": {}}

        return caller

    def trust(original):
        def evaluate(trust_doc, caller_arn, ctx=None):
            claims = _caller.get()
            if claims is None or ctx is None:
                return original(trust_doc, caller_arn, ctx)
            keys = {"aws:PrincipalIsAWSService": "true", "aws:PrincipalServiceName": caller_arn, **claims.get("context", {})}
            own = {**ctx.service_context, **{key.lower(): value for key, value in keys.items()}}
            return original(naming(trust_doc, caller_arn, evaluator), caller_arn, dataclasses.replace(ctx, service_context=own))

        return evaluate

    app.SERVICE_HANDLERS["sts"] = handle
    replace(sts, "_caller_identity", identity)
    replace(evaluator, "evaluate_trust_policy", trust)


def naming(trust_doc, service, evaluator):
    """The trust policy with only the statements that name the service, for everybody."""
    document = json.loads(trust_doc) if isinstance(trust_doc, str) else trust_doc
    statements = document.get("Statement", [])
    return {
        **document,
        "Statement": [
            {**statement, "Principal": "*"}
            for statement in ([statements] if isinstance(statements, dict) else statements)
            if statement.get("Principal") == "*" or evaluator._service_principal_matches(statement.get("Principal"), service)
        ],
    }

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

    handler = app.SERVICE_HANDLERS["sts"]

    async def handle(method, path, headers, body, query_params):
        claims = verified(headers.get("x-fleet-assertion", ""), secret) or {}
        _caller.set(claims if "assumesAs" in claims else None)
        return await handler(method, path, headers, body, query_params)

    def trust(original):
        def evaluate(trust_doc, caller_arn, ctx=None):
            claims = _caller.get()
            if claims is None or ctx is None:
                return original(trust_doc, caller_arn, ctx)
            service = claims["assumesAs"]
            keys = {
                "aws:principalisawsservice": "true",
                "aws:principalservicename": service,
                **{key.lower(): value for key, value in claims.get("context", {}).items()},
            }
            own = dataclasses.replace(
                ctx, principal_arn=service, principal_type="Service", principal_keys={}, service_context={**ctx.service_context, **keys},
            )
            return original(naming(trust_doc, service, evaluator), service, own)

        return evaluate

    app.SERVICE_HANDLERS["sts"] = handle
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

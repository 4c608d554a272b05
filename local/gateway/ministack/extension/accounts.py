"""What a caller may do with the resources of another account."""

import contextlib
import contextvars
import json

from .shared import replace

# The action that is being authorized, for the policies of resources that count for some actions only.
_action = contextvars.ContextVar("fleet_asked_action", default="")
# Whether the last refusal is one of a resource that is not shared.
_unshared = contextvars.ContextVar("fleet_unshared", default=False)


# Whether AWS RAM shares what an ARN names with the account of the request: functions of the ARN.
RAM_SHARES = []


def action():
    """The action that is being authorized, `kms:Decrypt`."""
    return _action.get()


def extend(_app, _secret):
    """Across accounts both the caller's own policies and the resource's must allow, and an account's root is no exception.

    IAM User Guide, "Cross-account policy evaluation logic" and "Cross-account resource access in IAM": what has no resource policy, such as a
    role that is to be passed, is its own account's alone. sts:AssumeRole asks the role's trust policy, in its own handler. ministack leaves out
    the resource's side for root, and wherever it does not find a policy.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id
    from ministack.services import iam

    def resource_allows(principal, iam_action, region, arn, service, keys):
        found = evaluator._resource_policy(service, arn)
        if found is None:
            return False
        ctx = evaluator.EvalContext(
            principal_arn=principal.arn, principal_type=principal.type, principal_account=principal.account, action=iam_action,
            resource_arn=arn, region=region, service_context={key.lower(): value for key, value in (keys or {}).items()},
            principal_keys=principal.keys,
        )
        return evaluator.evaluate_resource_policy(found[0], ctx).decision == "Allow"

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            _action.set(iam_action)
            _unshared.set(False)
            denied = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            if service == "sts" or evaluator._account_from_arn(resource_arn) in (None, get_account_id()):
                return denied
            if isinstance(denied, evaluator.AuthError):
                return denied
            if any(shares(resource_arn) for shares in RAM_SHARES):
                return denied
            principal = evaluator.resolve_principal(access_key_id, get_account_id())
            if resource_allows(principal, iam_action, region, resource_arn, service, service_context):
                return denied
            _unshared.set(True)
            return denied or evaluator.EvalResult("ImplicitDeny", principal_arn=principal.arn)

        return check

    def denial(original):
        def response(service, iam_action, principal_arn, request_id, **options):
            if _unshared.get():
                resource = options.get("resource_arn", "*")
                options.setdefault("message", (
                    f"User: {principal_arn} is not authorized to perform: {iam_action} on resource: {resource} "
                    f"because no resource-based policy allows the {iam_action} action"))
            return original(service, iam_action, principal_arn, request_id, **options)

        return response

    def attach(original):
        """Policies of other accounts can't be attached; here they would have no effect (IAM API reference, AttachRolePolicy)."""

        def call(params):
            arn = iam._p(params, "PolicyArn")
            if evaluator._account_from_arn(arn) in (None, get_account_id()):
                return original(params)
            return iam._error(404, "NoSuchEntity", f"Policy {arn} does not exist or is not attachable.", ns="iam")

        return call

    replace(evaluator, "enforce", enforce)
    replace(actions, "access_denied_response", denial)
    for operation in ("AttachGroupPolicy", "AttachRolePolicy", "AttachUserPolicy"):
        iam._IAM_HANDLERS[operation] = attach(iam._IAM_HANDLERS[operation])


def within(arn):
    """Makes the account that owns what this ARN names the account of the request, for the time of a block."""
    from ministack.core.iam_evaluator import _account_from_arn
    from ministack.core.responses import get_account_id, get_region, request_scope

    owner = _account_from_arn(arn) if isinstance(arn, str) else None
    return contextlib.nullcontext() if owner in (None, get_account_id()) else request_scope(owner, get_region())


def owners_policy(original, serves):
    """A look-up of the policy of a resource and of its account, also for ARNs of other accounts: there nothing but what `serves` an action is shared.

    What does not exist is refused like what is not shared.
    """
    from ministack.core.iam_evaluator import _account_from_arn
    from ministack.core.responses import get_account_id

    def policy(arn):
        owner = _account_from_arn(arn)
        if owner in (None, get_account_id()):
            return original(arn)
        with within(arn):
            found = original(arn) if serves(action().partition(":")[2]) else None
        return found or ("", owner)

    return policy


def missing_principals(policy):
    """The users and roles that a resource policy names and that do not exist: AWS saves no policy with one of them.

    IAM User Guide, "AWS JSON policy elements: Principal".
    """
    from ministack.services import iam

    def exists(principal):
        parts = principal.split(":", 5)
        kind, _, path = parts[5].partition("/") if len(parts) == 6 else ("", "", "")
        store = {"user": iam._users, "role": iam._roles}.get(kind)
        if store is None or parts[2] != "iam":
            return True
        return (store.get_scoped(parts[4], None, path.rpartition("/")[2]) or {}).get("Arn") == principal

    document = json.loads(policy)
    statements = document.get("Statement", [])
    named = [
        name
        for statement in ([statements] if isinstance(statements, dict) else statements)
        for element in (statement.get("Principal"), statement.get("NotPrincipal"))
        if isinstance(element, dict)
        for name in listed(element.get("AWS", []))
    ]
    return [name for name in named if not exists(name)]


def listed(value):
    return [value] if isinstance(value, str) else value

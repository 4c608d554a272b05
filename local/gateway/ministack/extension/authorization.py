"""What a call needs beyond what ministack asks for: further resources, condition keys and rights."""

import contextvars
import dataclasses
import json

from .shared import replace

# What a service's calls need: functions that change a Call. What tags a service's resources have: functions of an ARN, None where
# ministack's own answer stands.
CALLS = {}
TAGS = {}

_action = contextvars.ContextVar("fleet_action", default="")
_call = contextvars.ContextVar("fleet_call", default=None)
_denied_as = contextvars.ContextVar("fleet_denied_as", default=None)


@dataclasses.dataclass
class Call:
    """A call while it is authorized."""

    service: str
    operation: str
    path: str
    body: bytes
    params: dict
    region: str
    account: str
    # Every one needs an Allow. ministack's own answer at first.
    resources: list
    # Condition keys beside ministack's.
    context: dict = dataclasses.field(default_factory=dict)
    # Rights that the call needs as well: service, action, resource, condition keys; None for one that is the call's and not theirs.
    also: list = dataclasses.field(default_factory=list)

    def arn(self, resource):
        return f"arn:aws:{self.service}:{self.region}:{self.account}:{resource}"

    def param(self, name):
        """A parameter of the Query protocol; empty where it is missing."""
        value = self.params.get(name) or ""
        return value[0] if isinstance(value, list) else value

    def member(self, name):
        """A member of a JSON body; None where it is missing."""
        try:
            return json.loads(self.body).get(name)
        except (ValueError, AttributeError):
            return None

    def passes_role(self, role, service):
        """The call hands a role to a service, which needs iam:PassRole."""
        self.also.append(("iam", "iam:PassRole", role, {"iam:PassedToService": service}))


def extend(_app, _secret):
    """Has ministack ask for what CALLS say. To be called last: whatever others replace is part of `original` here."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import tagging

    def action(original):
        def name(*request):
            found = original(*request)
            _action.set(found or "")
            return found

        return name

    def resource(original):
        def arn(service, method, path, headers, body, params, region, account):
            found = original(service, method, path, headers, body, params, region, account)
            _call.set(None)
            _denied_as.set(None)
            if service not in CALLS:
                return found
            call = Call(service, _action.get().partition(":")[2], path, body, params, region, account, [found])
            CALLS[service](call)
            _call.set(call)
            return call.resources[0]

        return arn

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            call = _call.get()
            _call.set(None)
            if call is None:
                return original(access_key_id, iam_action, service, region, resource_arn, service_context)
            context = {**(service_context or {}), **call.context}
            # ministack asks for the items of a DynamoDB transaction one by one, each with its own table.
            resources = call.resources if resource_arn == call.resources[0] else [resource_arn]
            rights = [(service, iam_action, arn, {}) for arn in resources] + call.also
            for of, wanted, arn, keys in rights:
                # What the request says counts for the rights of its own service.
                own = {**context, **keys} if of == service else keys
                denied = original(access_key_id, wanted, of, region, arn, {key: value for key, value in own.items() if value is not None})
                if denied:
                    _denied_as.set((wanted, arn))
                    return denied
            return None

        return check

    def denial(original):
        def response(service, action, principal_arn, request_id, **options):
            if not options.get("error_code"):
                action, options["resource_arn"] = _denied_as.get() or (action, options.get("resource_arn", "*"))
                if service in ("eks", "eks-auth", "aps", "grafana", "iam"):
                    options["message"] = actions.identity_denial_message(
                        action, principal_arn, options["resource_arn"], options.get("explicit_deny", False))
            return original(service, action, principal_arn, request_id, **options)

        return response

    def tags(original):
        def of(arn):
            own = TAGS.get(arn.split(":")[2] if arn.count(":") > 2 else "", lambda _: None)(arn)
            return original(arn) if own is None else own

        return of

    replace(actions, "extract_iam_action", action)
    replace(actions, "extract_resource_arn", resource)
    replace(evaluator, "enforce", enforce)
    replace(actions, "access_denied_response", denial)
    replace(tagging, "resource_tags", tags)

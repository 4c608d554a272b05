"""A service control policy: it denies creating what lacks a company's tags, and what faults.json says (`requiredTags`, `serviceControlPolicy`)."""

import contextvars

from .ec2 import MAKES
from .faults import fault
from .shared import replace

# Calls that create a resource with its tags, for which AWS has aws:RequestTag (Service Authorization Reference).
_CREATES = {f"ec2:{call}" for call in MAKES} | {
    "aps:CreateWorkspace", "dynamodb:CreateTable", "ec2:CreateFleet", "ec2:RunInstances", "eks:CreateAccessEntry", "eks:CreateAddon",
    "eks:CreateCluster", "eks:CreateNodegroup", "eks:CreatePodIdentityAssociation", "elasticloadbalancing:CreateListener",
    "elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateRule", "elasticloadbalancing:CreateTargetGroup", "grafana:CreateWorkspace", "iam:CreateOpenIDConnectProvider", "iam:CreatePolicy", "iam:CreateRole",
    "kms:CreateKey", "logs:CreateLogGroup", "rds:CreateDBInstance", "rds:CreateDBSubnetGroup", "secretsmanager:CreateSecret", "sqs:CreateQueue",
}
# Of what these two name, only what they create has tags in the request.
_STARTS_INSTANCES = ("ec2:CreateFleet", "ec2:RunInstances")
_STARTED = (":fleet/*", ":instance/*", ":network-interface/*", ":volume/*")

_denied = contextvars.ContextVar("fleet_service_control_policy_denied", default=False)


def extend(_app, _secret):
    """As in AWS Organizations User Guide, "Require a tag on specified created resources": Deny, where aws:RequestTag/<key> is Null.

    No service control policy applies to service-linked roles (same guide, "Service control policies"), so none applies to the gateway, which acts
    for AWS services with the root's key. Before authorization, which asks for each resource with its own tags.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id

    def lacks_tags(action, arn, context):
        if action not in _CREATES or (action in _STARTS_INSTANCES and not arn.endswith(_STARTED)):
            return False
        given = {key.lower() for key, value in (context or {}).items() if value is not None}
        return any(f"aws:requesttag/{key}".lower() not in given for key in fault("requiredTags", []))

    def denies(principal, action, arn, region, context):
        statements = evaluator.parse_policy_document({"Statement": fault("serviceControlPolicy", [])})
        request = evaluator.EvalContext(
            principal_arn=principal.arn, principal_type=principal.type, principal_account=principal.account, action=action, resource_arn=arn,
            region=region, service_context={key.lower(): value for key, value in (context or {}).items()}, principal_keys=principal.keys)
        return evaluator._first_match(request, statements, "Deny") is not None

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            _denied.set(False)
            refused = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            if refused or not access_key_id or evaluator.is_root_access_key(access_key_id):
                return refused
            principal = evaluator.resolve_principal(access_key_id, get_account_id())
            if not (lacks_tags(iam_action, resource_arn, service_context) or
                    denies(principal, iam_action, resource_arn, region, service_context)):
                return None
            _denied.set(True)
            return evaluator.EvalResult("Deny", principal_arn=principal.arn)

        return check

    def denial(original):
        def response(service, action, principal_arn, request_id, **options):
            if _denied.get():
                where = f"on resource: {options.get('resource_arn', '*')} with an explicit deny in a service control policy"
                options["message"] = f"User: {principal_arn} is not authorized to perform: {action} {where}"
            return original(service, action, principal_arn, request_id, **options)

        return response

    replace(evaluator, "enforce", enforce)
    replace(actions, "access_denied_response", denial)

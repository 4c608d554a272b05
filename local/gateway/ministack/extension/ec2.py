"""Tags and resources of EC2 calls."""

import contextvars

from .shared import replace

# Prefixes of EC2 ids with the resource type in their ARNs.
_EC2_TYPES = {
    "eipalloc": "elastic-ip", "eni": "network-interface", "igw": "internet-gateway", "lt": "launch-template", "nat": "natgateway",
    "rtb": "route-table", "sg": "security-group", "subnet": "subnet", "vpc": "vpc", "vpce": "vpc-endpoint",
}


def extend_ec2():
    """aws:ResourceTag of EC2 resources, and a look at every resource that a call names, not at the first alone."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id
    from ministack.services import ec2, tagging

    named = contextvars.ContextVar("fleet_ec2_named", default=())

    def resource_tags(original):
        def tags(arn):
            if not arn.startswith("arn:aws:ec2:"):
                return original(arn)
            found = ec2._tags.get(arn.rsplit("/", 1)[-1])
            return {tag["Key"]: tag["Value"] for tag in found} if found else None

        return tags

    def request_context(original):
        def keys(service, iam_action, body, params):
            values = [value for name in params for value in [actions._query_param(params, name)]] if service == "ec2" else []
            named.set(tuple(value for value in values if value.rpartition("-")[0] in _EC2_TYPES))
            return original(service, iam_action, body, params)

        return keys

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            denied = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            others = named.get()
            named.set(())
            for name in others if service == "ec2" and not denied else ():
                arn = f"arn:aws:ec2:{region}:{get_account_id()}:{_EC2_TYPES[name.rpartition('-')[0]]}/{name}"
                # Which of them AWS wants an Allow for differs by action; a Deny counts for all.
                other = original(access_key_id, iam_action, service, region, arn, service_context) if arn != resource_arn else None
                if getattr(other, "decision", None) == "Deny":
                    return other
            return denied

        return check

    replace(tagging, "resource_tags", resource_tags)
    replace(actions, "request_tag_context", request_context)
    replace(evaluator, "enforce", enforce)

"""Application and Network Load Balancers, and what calls of Elastic Load Balancing act on."""

import itertools

from .authorization import CALLS, TAGS
from .load_balancer_interfaces import attach, detach, missing

# The API version of classic load balancers, which share host and names of actions with the others.
CLASSIC_VERSION = "2012-06-01"
# Calls with tags or keys of tags.
_TAGGING = frozenset({"AddTags", "CreateListener", "CreateLoadBalancer", "CreateRule", "CreateTargetGroup", "RemoveTags"})


def extend(_app, _secret):
    """ministack's load balancers are in no subnet, go despite deletion protection, and take none of their listeners with them.

    ELB API Reference 2015-12-01, DeleteLoadBalancer and DeleteTargetGroup; messages as in cloudposse/terraform-aws-alb-ingress#24.
    """
    from ministack.core import iam_actions as actions
    from ministack.services import alb, ec2

    value, members, calls = alb._p, alb._parse_member_list, alb._ACTION_MAP
    originals = dict(calls)

    def create(params):
        name, kind = value(params, "Name"), value(params, "Type", "application")
        subnets, groups = members(params, "Subnets"), members(params, "SecurityGroups")
        problem = missing(ec2, subnets, groups)
        if problem:
            return alb._error(*problem)
        answer = originals["CreateLoadBalancer"](params)
        if answer[0] != 200:
            return answer
        made = alb._find_lb_by_name(name)["LoadBalancerArn"]
        # ministack calls all of them application load balancers, in a VPC of its own.
        arn = made.replace("loadbalancer/app/", "loadbalancer/net/") if kind == "network" else made
        for store in (alb._lbs, alb._tags, alb._lb_attrs):
            store[arn] = store.pop(made)
        alb._lbs[arn].update(LoadBalancerArn=arn, VpcId=ec2._subnets[subnets[0]]["VpcId"])
        attach(ec2, arn.partition(":loadbalancer/")[2], subnets, groups, alb._lbs[arn]["Scheme"] == "internet-facing")
        return alb._xml(200, "CreateLoadBalancer", f"<LoadBalancers>{alb._lb_xml(alb._lbs[arn])}</LoadBalancers>")

    def delete(params):
        arn = value(params, "LoadBalancerArn")
        if {"Key": "deletion_protection.enabled", "Value": "true"} in alb._lb_attrs.get(arn, []):
            return alb._error("OperationNotPermitted", f"Load balancer '{arn}' cannot be deleted because deletion protection is enabled")
        for listener in [id_ for id_, each in alb._listeners.items() if each["LoadBalancerArn"] == arn]:
            alb._delete_listener({"ListenerArn": listener})
        for group in alb._tgs.values():
            group["LoadBalancerArns"] = [each for each in group["LoadBalancerArns"] if each != arn]
        detach(ec2, arn.partition(":loadbalancer/")[2])
        return originals["DeleteLoadBalancer"](params)

    def delete_target_group(params):
        arn = value(params, "TargetGroupArn")
        if (alb._tgs.get(arn) or {}).get("LoadBalancerArns"):
            return alb._error("ResourceInUse", f"Target group '{arn}' is currently in use by a listener or a rule")
        return originals["DeleteTargetGroup"](params)

    def tags(arn):
        return {tag["Key"]: tag["Value"] for tag in alb._tags.get(arn) or ()}

    def named(call):
        name = call.param("LoadBalancerName") or call.param("Name")
        if call.operation.startswith("Describe"):
            call.resources = ["*"]
        elif call.param("Version") == CLASSIC_VERSION:
            call.resources = [call.arn(f"loadbalancer/{name}")]
        elif call.operation == "CreateLoadBalancer":
            call.resources = [call.arn(f"loadbalancer/{'net' if call.param('Type') == 'network' else 'app'}/{name}/*")]
        elif call.operation == "CreateTargetGroup":
            call.resources = [call.arn(f"targetgroup/{name}/*")]
        elif call.operation in ("DeleteRule", "ModifyRule"):
            call.resources = [call.param("RuleArn")]
        elif call.operation == "SetRulePriorities":
            numbers = itertools.takewhile(lambda at: call.param(f"RulePriorities.member.{at}.RuleArn"), itertools.count(1))
            call.resources = [call.param(f"RulePriorities.member.{at}.RuleArn") for at in numbers] or call.resources
        elif call.operation in ("AddTags", "RemoveTags"):
            call.resources = members(call.params, "ResourceArns") or call.resources
        # Tags that come with a call (AWS Load Balancer Controller, docs/install/iam_policy.json).
        if call.operation.startswith("Create") and call.param("Tags.member.1.Key"):
            created = {"elasticloadbalancing:CreateAction": call.operation}
            call.also.append((call.service, "elasticloadbalancing:AddTags", call.resources[0], created))

    calls.update(CreateLoadBalancer=create, DeleteLoadBalancer=delete, DeleteTargetGroup=delete_target_group)
    # ministack looks for these in a model that it does not have.
    actions._TAG_OPERATIONS["elasticloadbalancing"] = _TAGGING
    CALLS["elasticloadbalancing"] = named
    TAGS["elasticloadbalancing"] = tags

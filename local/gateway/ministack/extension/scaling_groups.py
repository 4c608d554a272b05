"""Auto Scaling groups: those that EKS makes for node groups, and the groups that a call of tags is about."""

import itertools

from .authorization import CALLS, TAGS
from .shared import replace

# The tag by which EKS marks what it makes for a node group.
_OF_EKS = "eks:nodegroup-name"
# What the gateway tells of a node that runs: its address and those of its pods among them.
_NODE = ("Id", "Zone", "Subnet", "Address", "Pods", "Group")


def extend(_app, _secret):
    """ministack invents the instances of a group. Those of a node group are its nodes, which the gateway, EKS here, tells by a call of its own.

    And it knows a group by AutoScalingGroupName only, which CreateOrUpdateTags and DeleteTags don't have (Amazon EC2 Auto Scaling API Reference).
    """
    from ministack.services import autoscaling

    calls = autoscaling._ACTION_MAP
    create = calls["CreateAutoScalingGroup"]

    def keep_nodegroup(params):
        """The group of a node group as it should be: made where it is missing. Its tags are its own afterwards."""
        name = autoscaling._p(params, "AutoScalingGroupName")
        if name not in autoscaling._asgs:
            create(params)
        group = autoscaling._asgs[name]
        group.update({size: int(autoscaling._p(params, size)) for size in ("MinSize", "MaxSize", "DesiredCapacity")})
        ids, zones = (autoscaling._parse_member_list(params, f"Instances.{kind}") for kind in ("Id", "Zone"))
        group["Instances"] = [instance(*each) for each in zip(ids, zones, strict=True)]
        # For node_instances.py: those that run.
        columns = [autoscaling._parse_member_list(params, f"Nodes.{field}") for field in _NODE]
        group["_fleet_nodes"] = [dict(zip(_NODE, each, strict=True)) for each in zip(*columns, strict=True)]
        return autoscaling._xml(200, "KeepNodegroupResponse", "<KeepNodegroupResult/>")

    def instance(id_, zone):
        return {
            "InstanceId": id_, "AvailabilityZone": zone, "LifecycleState": "InService", "HealthStatus": "Healthy",
            "ProtectedFromScaleIn": False, "LaunchTemplate": {}, "LaunchConfigurationName": "",
        }

    def reconcile(original):
        def resize(group):
            if not any(tag["Key"] == _OF_EKS for tag in group["Tags"]):
                original(group)

        return resize

    def judge(call):
        if call.operation in ("CreateOrUpdateTags", "DeleteTags"):
            call.resources = [arn_of(call, name) for name in tagged(call)] or call.resources

    def tagged(call):
        """The groups whose tags a call changes: it may name several."""
        tag_numbers = itertools.takewhile(lambda at: call.param(f"Tags.member.{at}.Key"), itertools.count(1))
        return list(dict.fromkeys(call.param(f"Tags.member.{at}.ResourceId") for at in tag_numbers))

    def arn_of(call, name):
        known = autoscaling._asgs.get(name)
        return known["AutoScalingGroupARN"] if known else call.arn(f"autoScalingGroup:*:autoScalingGroupName/{name}")

    def tags(arn):
        # Where no group is known by its name alone, ministack has `*` for the ID in the ARN.
        named = autoscaling._asgs.get(arn.rpartition("autoScalingGroupName/")[2])
        return {tag["Key"]: tag["Value"] for tag in named["Tags"]} if named else None

    calls["KeepNodegroup"] = keep_nodegroup
    replace(autoscaling, "_reconcile_instances", reconcile)
    CALLS["autoscaling"] = judge
    TAGS["autoscaling"] = tags

"""Nodes as instances of EC2."""

import ipaddress
import re

# The size of a prefix that the VPC CNI gives to an interface for pods (EKS User Guide, "Assign more IP addresses to Amazon EKS nodes with prefixes").
_PREFIX = 28


def extend(_app, _secret):
    """EC2 tells of a node that a call names. ministack has none of them: a node here is a network namespace.

    Controllers find the interface of a pod so, by the prefixes of the interfaces of its node (aws-load-balancer-controller,
    pkg/networking/pod_eni_info_resolver.go). A call that names no instance is told of none of these, so that nobody counts or ends them.
    """
    from ministack.services import autoscaling, ec2

    original = ec2._ACTION_MAP["DescribeInstances"]

    def describe(params):
        asked = ec2._parse_member_list(params, "InstanceId")
        nodes = {node["Id"]: node for group in autoscaling._asgs.values() for node in group.get("_fleet_nodes", ())}
        known = [nodes[id_] for id_ in asked if id_ in nodes]
        if not known:
            return original(params)
        others = [id_ for id_ in asked if id_ not in nodes]
        told = ""
        if others:
            rest = {name: value for name, value in params.items() if not name.startswith("InstanceId.")}
            status, headers, body = original({**rest, **{f"InstanceId.{at}": [id_] for at, id_ in enumerate(others, 1)}})
            if status != 200:
                return status, headers, body
            told = re.search(r"<reservationSet>(.*)</reservationSet>", body.decode(), re.DOTALL)[1]
        items = "".join(
            f"<item><reservationId>r-{node['Id'][2:]}</reservationId><ownerId>{ec2.get_account_id()}</ownerId><groupSet/>"
            f"<instancesSet>{instance(node)}</instancesSet></item>"
            for node in known
        )
        return ec2._xml(200, "DescribeInstancesResponse", f"<reservationSet>{items}{told}</reservationSet>")

    def instance(node):
        subnet = ec2._subnets.get(node["Subnet"]) or {}
        group = ec2._security_groups.get(node["Group"]) or {}
        groups = f"<groupSet><item><groupId>{node['Group']}</groupId><groupName>{group.get('GroupName', '')}</groupName></item></groupSet>"
        place = f"<subnetId>{node['Subnet']}</subnetId><vpcId>{subnet.get('VpcId', '')}</vpcId>"
        address = f"<privateIpAddress>{node['Address']}</privateIpAddress>"
        return (
            f"<item><instanceId>{node['Id']}</instanceId><instanceState><code>16</code><name>running</name></instanceState>"
            f"<placement><availabilityZone>{node['Zone']}</availabilityZone></placement>{address}{place}{groups}<networkInterfaceSet><item>"
            f"<networkInterfaceId>{node['Id'].replace('i-', 'eni-', 1)}</networkInterfaceId>{place}{address}{groups}<status>in-use</status>"
            f"<attachment><deviceIndex>0</deviceIndex><status>attached</status></attachment>"
            f"<privateIpAddressesSet><item>{address}<primary>true</primary></item></privateIpAddressesSet>"
            f"{prefixes(node['Pods'])}</item></networkInterfaceSet></item>"
        )

    ec2._ACTION_MAP["DescribeInstances"] = describe


def prefixes(block):
    """The prefixes of an interface that pods with addresses of this block have."""
    items = "".join(f"<item><ipv4Prefix>{prefix}</ipv4Prefix></item>" for prefix in ipaddress.ip_network(block).subnets(new_prefix=_PREFIX))
    return f"<ipv4PrefixSet>{items}</ipv4PrefixSet>"

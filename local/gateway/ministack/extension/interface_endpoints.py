"""Interface endpoints: their network interfaces, security groups and names, and what EC2 refuses."""

import re
import time

from .authorization import CALLS
from .network_interfaces import UNTIL, add, members, settle
from .shared import replace

# How long one is pending, and how long one that goes is still told with its interfaces, in seconds: a minute or more in AWS.
_PENDING = 3
_LINGER = 5
_DELETING = "deleting"

# Services that a fleet or GuardDuty makes interface endpoints for, with private DNS names (AWS PrivateLink Guide, "AWS services that integrate").
_SERVICES = (
    "aps-workspaces", "autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "elasticloadbalancing", "guardduty-data", "kms",
    "logs", "monitoring",
    "rds", "secretsmanager", "sns", "sqs", "ssm", "ssmmessages", "sts", "xray",
)


def extend(_app, _secret):
    """ministack keeps the subnets of an interface endpoint and nothing else of it.

    EC2 API Reference, CreateVpcEndpoint: without groups the endpoint gets the VPC's default one; a private DNS name needs both DNS attributes of the VPC.
    Amazon VPC PrivateLink Guide, "Access an AWS service using an interface VPC endpoint": one subnet in each zone. The message of a second endpoint for one
    name as in terraform-aws-modules/terraform-aws-vpc#226, that of two subnets in a zone as in hashicorp/terraform-provider-aws#14291, those of missing groups
    and subnets as ministack has them elsewhere. Route 53 is asked with the caller's rights (Service Authorization Reference, "Amazon EC2").
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    originals = {name: calls[name] for name in ("CreateVpcEndpoint", "DeleteVpcEndpoints", "DescribeVpcEndpoints", "ModifyVpcEndpoint", "DeleteVpc")}

    def is_interface(endpoint):
        return endpoint.get("VpcEndpointType") == "Interface"

    def service_of(endpoint):
        return re.sub(r"^(cn\.)?com\.amazonaws\.[^.]+\.", "", endpoint["ServiceName"])

    def refused(code, message):
        return ec2._error(code, message, 400)

    def default_group(vpc):
        return next(id_ for id_, group in ec2._security_groups.items() if group["VpcId"] == vpc and group["GroupName"] == "default")

    def misplaced(vpc, subnets, groups):
        """Why an endpoint can't be in these subnets with these groups."""
        for subnet in subnets:
            if (ec2._subnets.get(subnet) or {}).get("VpcId") != vpc:
                return refused("InvalidSubnetId.NotFound", f"The subnet ID '{subnet}' does not exist")
        zones = [ec2._subnets[subnet]["AvailabilityZone"] for subnet in subnets]
        if len(set(zones)) < len(zones):
            return refused("DuplicateSubnetsInSameZone", "Found another VPC endpoint subnet in the availability zone")
        for group in groups:
            if (ec2._security_groups.get(group) or {}).get("VpcId") != vpc:
                return refused("InvalidSecurityGroupId.NotFound", f"The Security Group ID '{group}' does not exist")
        return None

    def unnamed(vpc, service):
        """Why an endpoint can't take over the name of its service in the VPC."""
        record = ec2._vpcs[vpc]
        if not (record.get("EnableDnsSupport", True) and record.get("EnableDnsHostnames", False)):
            return refused(
                "InvalidParameter", f"Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for {vpc}")
        for other in ec2._vpc_endpoints.values():
            if other["VpcId"] == vpc and other["ServiceName"] == service and other.get("PrivateDnsEnabled") and other["State"] != _DELETING:
                return refused(
                    "InvalidParameter",
                    f"private-dns-enabled cannot be set because there is already a conflicting DNS domain for {service_of(other)}.{ec2.get_region()}.amazonaws.com "
                    f"in the VPC {vpc}")
        return None

    def create_endpoint(params):
        if ec2._p(params, "VpcEndpointType") != "Interface":
            return originals["CreateVpcEndpoint"](params)
        vpc, service = ec2._p(params, "VpcId"), ec2._p(params, "ServiceName")
        if vpc not in ec2._vpcs:
            return refused("InvalidVpcId.NotFound", f"The Vpc Id {vpc} does not exist")
        if service not in [f"com.amazonaws.{ec2.get_region()}.{name}" for name in _SERVICES]:
            return refused("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
        if ec2._parse_member_list(params, "RouteTableId"):
            return refused("InvalidParameter", "Route table IDs are only supported for Gateway type VPC Endpoint.")
        subnets = ec2._parse_member_list(params, "SubnetId")
        groups = ec2._parse_member_list(params, "SecurityGroupId") or [default_group(vpc)]
        # Where a call leaves it out, the names are taken over (API Reference, PrivateDnsEnabled); Terraform always says it.
        named = ec2._p(params, "PrivateDnsEnabled") != "false"
        refusal = misplaced(vpc, subnets, groups) or (unnamed(vpc, service) if named else None)
        if refusal:
            return refusal
        before = set(ec2._vpc_endpoints)
        status, headers, body = originals["CreateVpcEndpoint"](params)
        for id_ in set(ec2._vpc_endpoints) - before:
            ec2._vpc_endpoints[id_].update(Groups=groups, PrivateDnsEnabled=named, Interfaces={})
            join(ec2._vpc_endpoints[id_], subnets)
            body = ec2._xml(200, "CreateVpcEndpointResponse", ec2._vpce_fields_xml(ec2._vpc_endpoints[id_], tag="vpcEndpoint"))[2]
        return status, headers, body

    def join(endpoint, subnets):
        """A network interface in each subnet; the endpoint is pending meanwhile."""
        for subnet in subnets:
            endpoint["Interfaces"][subnet] = add(
                ec2, subnet, endpoint["Groups"], Description=f"VPC Endpoint Interface {endpoint['VpcEndpointId']}", InterfaceType="vpc_endpoint",
                Requester=ec2.get_account_id(),
            )
        endpoint.update(SubnetIds=list(endpoint["Interfaces"]), State="pending", **{UNTIL: time.time() + _PENDING})

    def grouped(endpoint):
        for id_ in endpoint["Interfaces"].values():
            ec2._network_interfaces[id_]["Groups"] = members(ec2, endpoint["Groups"])

    def modify_endpoint(params):
        refresh()
        endpoint = ec2._vpc_endpoints.get(ec2._p(params, "VpcEndpointId"))
        if not endpoint or not is_interface(endpoint):
            return originals["ModifyVpcEndpoint"](params)
        if endpoint["State"] == _DELETING:
            return refused("InvalidParameter", f"The VPC endpoint {endpoint['VpcEndpointId']} is being deleted")
        asked = {name: ec2._parse_member_list(params, name) for name in ("AddSubnetId", "RemoveSubnetId", "AddSecurityGroupId", "RemoveSecurityGroupId")}
        added = [subnet for subnet in asked["AddSubnetId"] if subnet not in endpoint["SubnetIds"]]
        groups = [group for group in [*endpoint["Groups"], *asked["AddSecurityGroupId"]] if group not in asked["RemoveSecurityGroupId"]]
        refusal = misplaced(endpoint["VpcId"], [*endpoint["SubnetIds"], *added], groups)
        if refusal:
            return refusal
        if not groups:
            return refused("InvalidParameter", "An Interface VPC Endpoint must always have at least one Security Group")
        endpoint["Groups"] = list(dict.fromkeys(groups))
        for subnet in asked["RemoveSubnetId"]:
            ec2._network_interfaces.pop(endpoint["Interfaces"].pop(subnet, None), None)
        grouped(endpoint)
        if added or asked["RemoveSubnetId"]:
            join(endpoint, added)
        return ec2._xml(200, "ModifyVpcEndpointResponse", "<return>true</return>")

    def delete_endpoints(params):
        refresh()
        ids = ec2._parse_member_list(params, "VpcEndpointId")
        lingering = [endpoint for id_ in ids if (endpoint := ec2._vpc_endpoints.get(id_)) and is_interface(endpoint)]
        until = {UNTIL: time.time() + _LINGER}
        for endpoint in lingering:
            if endpoint["State"] != _DELETING:
                endpoint.update(State=_DELETING, **until)
                for id_ in endpoint["Interfaces"].values():
                    ec2._network_interfaces[id_].update(until)
        rest = [id_ for id_ in ids if id_ not in [endpoint["VpcEndpointId"] for endpoint in lingering]]
        return originals["DeleteVpcEndpoints"]({f"VpcEndpointId.{number}": [id_] for number, id_ in enumerate(rest, 1)})

    def refresh():
        """What its time has come for: pending ones are there, deleted ones are gone."""
        settle(ec2)
        for id_, endpoint in list(ec2._vpc_endpoints.items()):
            if endpoint.get(UNTIL, float("inf")) >= time.time():
                continue
            if endpoint["State"] == _DELETING:
                del ec2._vpc_endpoints[id_]
                ec2._tags.pop(id_, None)
            else:
                endpoint.update(State="available")
                del endpoint[UNTIL]

    def describe_endpoints(params):
        refresh()
        return originals["DescribeVpcEndpoints"](params)

    def delete_vpc(params):
        refresh()
        vpc = ec2._p(params, "VpcId")
        if any(endpoint["VpcId"] == vpc and is_interface(endpoint) for endpoint in ec2._vpc_endpoints.values()):
            return refused("DependencyViolation", f"The vpc '{vpc}' has dependencies and cannot be deleted.")
        return originals["DeleteVpc"](params)

    def as_aws_says(original):
        def xml(endpoint, tag="item"):
            if not is_interface(endpoint) or "Interfaces" not in endpoint:
                return original(endpoint, tag)
            groups = "".join(f"<item><groupId>{id_}</groupId><groupName>{(ec2._security_groups.get(id_) or {}).get('GroupName', '')}</groupName></item>"
                             for id_ in endpoint["Groups"])
            interfaces = "".join(f"<item>{id_}</item>" for id_ in endpoint["Interfaces"].values())
            named = endpoint["PrivateDnsEnabled"]
            region = ec2.get_region()
            names = [f"{endpoint['VpcEndpointId']}.{service_of(endpoint)}.{region}.vpce.amazonaws.com"]
            names += [f"{service_of(endpoint)}.{region}.amazonaws.com"] if named else []
            entries = "".join(f"<item><dnsName>{name}</dnsName><hostedZoneId>Z7HUB22UULQXV</hostedZoneId></item>" for name in names)
            more = (
                f"<groupSet>{groups}</groupSet><networkInterfaceIdSet>{interfaces}</networkInterfaceIdSet>"
                f"<privateDnsEnabled>{str(named).lower()}</privateDnsEnabled><dnsEntrySet>{entries}</dnsEntrySet>"
                "<ipAddressType>ipv4</ipAddressType><requesterManaged>false</requesterManaged>"
            )
            return re.sub(rf"</{tag}>\s*$", f"{more}</{tag}>", original(endpoint, tag))

        return xml

    def naming(named):
        def of(call):
            named(call)
            if call.operation == "CreateVpcEndpoint" and call.param("VpcEndpointType") == "Interface" and call.param("PrivateDnsEnabled") != "false":
                call.also += [
                    ("route53", "route53:AssociateVPCWithHostedZone", resource, {})
                    for resource in ("arn:aws:route53:::hostedzone/Z0000000000000", call.arn(f"vpc/{call.param('VpcId')}"))
                ]

        return of

    replace(ec2, "_vpce_fields_xml", as_aws_says)
    calls.update(
        CreateVpcEndpoint=create_endpoint, DeleteVpcEndpoints=delete_endpoints, DescribeVpcEndpoints=describe_endpoints, ModifyVpcEndpoint=modify_endpoint,
        DeleteVpc=delete_vpc,
    )
    CALLS["ec2"] = naming(CALLS["ec2"])

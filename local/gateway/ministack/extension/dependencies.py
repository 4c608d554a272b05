"""What EC2 does not remove because something uses it."""

from .network_interfaces import settle
from .nat_gateways import ENDED


def extend(_app, _secret):
    """ministack removes subnets with interfaces and NAT gateways in them, security groups that interfaces or rules use, interfaces that are
    attached, and takes internet gateways away from public addresses.

    EC2 API Reference, DeleteSubnet, DeleteSecurityGroup: both fail with DependencyViolation. DetachInternetGateway: the VPC must not have
    running instances with Elastic IP or public addresses; its message and that of DeleteInternetGateway as in hashicorp/terraform#497 and
    landing-zone-accelerator-on-aws#765, that of DeleteNetworkInterface as in amazon-vpc-cni-k8s#1399.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    originals = dict(calls)

    def refused(message, code="DependencyViolation"):
        return ec2._error(code, message, 400)

    def delete_subnet(params):
        id_ = ec2._p(params, "SubnetId")
        inside = [eni for eni in ec2._network_interfaces.values() if eni["SubnetId"] == id_]
        gateways = [nat for nat in ec2._nat_gateways.values() if nat["SubnetId"] == id_ and nat["State"] not in ENDED]
        if inside or gateways:
            return refused(f"The subnet '{id_}' has dependencies and cannot be deleted.")
        return originals["DeleteSubnet"](params)

    def named(rules):
        return {pair.get("GroupId") for rule in rules for pair in rule.get("UserIdGroupPairs", [])}

    def delete_group(params):
        id_ = ec2._p(params, "GroupId")
        using = [eni for eni in ec2._network_interfaces.values() if any(held["GroupId"] == id_ for held in eni["Groups"])]
        # Its own rules may name it.
        others = [
            other for other, record in ec2._security_groups.items()
            if other != id_ and id_ in named(record["IpPermissions"]) | named(record["IpPermissionsEgress"])
        ]
        if using or others:
            return refused(f"resource {id_} has a dependent object")
        return originals["DeleteSecurityGroup"](params)

    def delete_interface(params):
        id_ = ec2._p(params, "NetworkInterfaceId")
        if (ec2._network_interfaces.get(id_) or {}).get("Attachment"):
            return refused(f"Network interface '{id_}' is currently in use.", "InvalidParameterValue")
        return originals["DeleteNetworkInterface"](params)

    def has_mapped_addresses(vpc):
        gateways = (
            nat for nat in ec2._nat_gateways.values()
            if nat["VpcId"] == vpc and nat["ConnectivityType"] == "public" and nat["State"] not in ENDED
        )
        interfaces = (eni for eni in ec2._network_interfaces.values() if eni["VpcId"] == vpc and "Association" in eni)
        return any(gateways) or any(interfaces)

    def detach_gateway(params):
        vpc = ec2._p(params, "VpcId")
        if has_mapped_addresses(vpc):
            return refused(
                f"Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.")
        return originals["DetachInternetGateway"](params)

    def delete_gateway(params):
        id_ = ec2._p(params, "InternetGatewayId")
        if (ec2._internet_gateways.get(id_) or {}).get("Attachments"):
            return refused(f"The internetGateway '{id_}' has dependencies and cannot be deleted.")
        return originals["DeleteInternetGateway"](params)

    def settled(call):
        def after(params):
            settle(ec2)
            return call(params)

        return after

    wrapped = {
        "DeleteSubnet": delete_subnet, "DeleteSecurityGroup": delete_group, "DeleteNetworkInterface": delete_interface,
        "DetachInternetGateway": detach_gateway, "DeleteInternetGateway": delete_gateway,
        "DescribeNetworkInterfaces": originals["DescribeNetworkInterfaces"],
    }
    calls.update({action: settled(call) for action, call in wrapped.items()})

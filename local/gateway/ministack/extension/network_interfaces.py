"""The interfaces that services of AWS have in subnets: of load balancers and of interface endpoints."""

import ipaddress
import random
import time

# When one goes that is no longer used, in seconds since 1970.
UNTIL = "_fleet_until"


def add(ec2, subnet, groups, **fields):
    """Makes one in a subnet, a member of these security groups, and gives its id."""
    suffix = "".join(random.choices("0123456789abcdef", k=17))
    id_ = f"eni-{suffix}"
    ec2._network_interfaces[id_] = {
        "NetworkInterfaceId": id_, "SubnetId": subnet, "VpcId": ec2._subnets[subnet]["VpcId"],
        "AvailabilityZone": ec2._subnets[subnet]["AvailabilityZone"], "OwnerId": ec2.get_account_id(), "Status": "in-use",
        "PrivateIpAddress": _private_address(ec2, subnet), "SourceDestCheck": True,
        "MacAddress": ":".join(f"{random.randrange(256):02x}" for _ in range(6)), "Groups": members(ec2, groups),
        "Attachment": {"AttachmentId": f"ela-attach-{suffix}", "DeviceIndex": 1, "AttachTime": ec2._now_ts()}, **fields,
    }
    return id_


def members(ec2, groups):
    """Security groups as an interface has them."""
    return [{"GroupId": group, "GroupName": ec2._security_groups[group]["GroupName"]} for group in groups]


def _private_address(ec2, subnet):
    """A free address of the subnet, above the four that AWS keeps (VPC User Guide, "Subnet sizing")."""
    hosts = list(ipaddress.ip_network(ec2._subnets[subnet]["CidrBlock"]).hosts())[3:]
    taken = {eni["PrivateIpAddress"] for eni in ec2._network_interfaces.values() if eni["SubnetId"] == subnet}
    return next(str(host) for host in random.sample(hosts, len(hosts)) if str(host) not in taken)


def settle(ec2):
    """Removes those whose time is over."""
    for id_, eni in list(ec2._network_interfaces.items()):
        if eni.get(UNTIL, float("inf")) < time.time():
            del ec2._network_interfaces[id_]
            ec2._tags.pop(id_, None)

"""The interfaces that a load balancer has in its subnets."""

import ipaddress
import os
import re
import time

from .network_interfaces import UNTIL, add
from .shared import replace

# How long they outlive their load balancer, in seconds: minutes in AWS (terraform-provider-aws#40).
_LINGER = 5


def attach(ec2, name, subnets, groups, public):
    """Makes an interface in each subnet, as AWS describes it: `ELB app/<name>/<id>`, `ELB net/<name>/<id>`, of a classic one `ELB <name>`.

    AWS Knowledge Center, "Find the IP addresses that ELB uses". Its private address is one of the subnet, its public one an address of this
    machine at which the gateway listens for it (../../elb).
    """
    for subnet in subnets:
        address = {"Association": {"PublicIp": _public_address(ec2)}} if public else {}
        add(ec2, subnet, groups, Description=f"ELB {name}", InterfaceType="interface", Requester="amazon-elb", **address)
    _save(ec2)


def _public_address(ec2):
    """The lowest free one; of all accounts, as the machine has them once."""
    taken = {(eni.get("Association") or {}).get("PublicIp") for eni in list(ec2._network_interfaces._data.values())}
    return next(str(host) for host in ipaddress.ip_network(os.environ["FLEET_PUBLIC_ADDRESSES"]).hosts() if str(host) not in taken)


def detach(ec2, name):
    """Has them go a while later."""
    for eni in ec2._network_interfaces.values():
        if eni["Description"] == f"ELB {name}":
            eni[UNTIL] = time.time() + _LINGER
    _save(ec2)


def missing(ec2, subnets, groups):
    """Code and message of AWS where a subnet or a security group does not exist, or no subnet is named; None where all do."""
    for absent in (each for each in subnets if each not in ec2._subnets):
        return "SubnetNotFound", f"The subnet ID '{absent}' is not valid"
    for absent in (each for each in groups if each not in ec2._security_groups):
        return "InvalidSecurityGroup", f"The security group '{absent}' does not exist"
    return None if subnets else ("ValidationError", "You must specify subnets or subnet mappings")


def _save(ec2):
    """The call was one of another service (persistence.py)."""
    from ministack.core.persistence import save_state

    save_state("ec2", ec2.get_state())


def extend(_app, _secret):
    """What EC2 tells of them beyond what ministack tells of an interface."""
    from ministack.services import ec2

    def as_aws_says(original):
        def xml(eni, tag="item"):
            requester = f"<requesterId>{eni['Requester']}</requesterId><requesterManaged>true</requesterManaged>" if "Requester" in eni else ""
            address = f"<association><publicIp>{eni['Association']['PublicIp']}</publicIp></association>" if "Association" in eni else ""
            return re.sub(rf"</{tag}>\s*$", f"{requester}{address}</{tag}>", original(eni, tag))

        return xml

    replace(ec2, "_eni_fields_xml", as_aws_says)

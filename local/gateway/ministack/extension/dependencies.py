"""What EC2 does not remove because something uses it."""


def extend(_app, _secret):
    """ministack removes subnets with interfaces and NAT gateways in them, and security groups that interfaces or rules use.

    EC2 API Reference, DeleteSubnet and DeleteSecurityGroup: both fail with DependencyViolation.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    subnet, group = calls["DeleteSubnet"], calls["DeleteSecurityGroup"]

    def refused(message):
        return ec2._error("DependencyViolation", message, 400)

    def delete_subnet(params):
        id_ = ec2._p(params, "SubnetId")
        inside = [eni for eni in ec2._network_interfaces.values() if eni["SubnetId"] == id_]
        gateways = [nat for nat in ec2._nat_gateways.values() if nat["SubnetId"] == id_ and nat["State"] != "deleted"]
        if inside or gateways:
            return refused(f"The subnet '{id_}' has dependencies and cannot be deleted.")
        return subnet(params)

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
        return group(params)

    calls.update(DeleteSubnet=delete_subnet, DeleteSecurityGroup=delete_group)

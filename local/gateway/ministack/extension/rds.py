"""Databases of RDS as records: names of what calls act on, states that take time, and what AWS refuses. No database runs."""

import hashlib
import re
import time

from .authorization import CALLS
from .shared import replace

# How long AWS takes, in seconds: minutes there.
_MAKING, _REMOVING = 5, 3
# CreateDBInstance, "DBInstanceIdentifier".
_NAME = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")
_AFTER = "_fleet_state_until"


def extend(_app, _secret):
    from ministack.services import ec2, rds

    value = rds._p
    CALLS["rds"] = named
    # A machine with Docker would run databases for some people and not for others.
    replace(rds, "_get_docker", lambda _original: lambda: None)

    def settle():
        """Ends what AWS has had time for."""
        for name, instance in list(rds._instances.items()):
            if instance.get(_AFTER, 0) > time.time():
                continue
            if instance["DBInstanceStatus"] == "creating":
                instance["DBInstanceStatus"] = "available"
            elif instance["DBInstanceStatus"] == "deleting":
                rds._tags.pop(instance["DBInstanceArn"], None)
                del rds._instances[name]

    def create(original):
        def call(params):
            name = value(params, "DBInstanceIdentifier")
            group, groups = value(params, "DBSubnetGroupName"), rds._parse_member_list(params, "VpcSecurityGroupIds")
            if not _NAME.match(name) or len(name) > 63:
                return rds._error("InvalidParameterValue", "The parameter DBInstanceIdentifier is not a valid identifier. Identifiers must "
                                  "begin with a letter; must contain only ASCII letters, digits, and hyphens; and must not end with a "
                                  "hyphen or contain two consecutive hyphens.", 400)
            if not value(params, "MasterUserPassword"):
                return rds._error("InvalidParameterCombination", "The parameter MasterUserPassword must be provided.", 400)
            if group and group not in rds._subnet_groups:
                return rds._error("DBSubnetGroupNotFoundFault", f"DB subnet group '{group}' does not exist.", 404)
            for missing in (each for each in groups if each not in ec2._security_groups):
                return rds._error("InvalidParameterValue", f"The security group '{missing}' does not exist", 400)
            answer = original(params)
            instance = rds._instances.get(name)
            if answer[0] == 200 and instance:
                host = hashlib.sha256(rds.get_account_id().encode()).hexdigest()[:12]
                instance["Endpoint"]["Address"] = f"{name}.{host}.{rds.get_region()}.rds.amazonaws.com"
                instance["DBName"] = value(params, "DBName") or ""
                instance.update({"DBInstanceStatus": "creating", _AFTER: time.time() + _MAKING})
                return rds._single_instance_response("CreateDBInstanceResponse", "CreateDBInstanceResult", instance)
            return answer

        return call

    def delete(original):
        def call(params):
            name, snapshot = value(params, "DBInstanceIdentifier"), value(params, "FinalDBSnapshotIdentifier")
            instance = rds._instances.get(name)
            if not instance:
                return original(params)
            if instance["DBInstanceStatus"] != "available":
                return rds._error("InvalidDBInstanceState", f"Instance {name} is already being deleted."
                                  if instance["DBInstanceStatus"] == "deleting" else f"Instance {name} is not available.", 400)
            if instance.get("DeletionProtection"):
                return rds._error("InvalidParameterCombination", "Cannot delete protected DB Instance, please disable deletion protection "
                                  "and try again.", 400)
            if value(params, "SkipFinalSnapshot") != "true" and not snapshot:
                return rds._error("InvalidParameterCombination", "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is "
                                  "specified.", 400)
            if snapshot in rds._snapshots:
                return rds._error("DBSnapshotAlreadyExists", f"Cannot create the snapshot because a snapshot with the identifier {snapshot} "
                                  "already exists.", 400)
            if snapshot:
                rds._create_snapshot_internal(snapshot, instance)
            instance.update({"DBInstanceStatus": "deleting", _AFTER: time.time() + _REMOVING})
            return rds._single_instance_response("DeleteDBInstanceResponse", "DeleteDBInstanceResult", instance)

        return call

    def describe(original):
        def call(params):
            settle()
            wanted = rds._parse_filters(params).get("dbi-resource-id")
            if wanted is None:
                return original(params)
            # ministack knows no such filter, and would answer with every instance.
            found = [each for each in rds._instances.values() if each["DbiResourceId"] in wanted]
            members = "".join(f"<DBInstance>{rds._instance_xml(each)}</DBInstance>" for each in found)
            return rds._xml(200, "DescribeDBInstancesResponse",
                            f"<DescribeDBInstancesResult><DBInstances>{members}</DBInstances></DescribeDBInstancesResult>")

        return call

    def create_group(original):
        def call(params):
            name = value(params, "DBSubnetGroupName")
            if name in rds._subnet_groups:
                return rds._error("DBSubnetGroupAlreadyExists", f"The DB subnet group '{name}' already exists.", 400)
            zones = {(ec2._subnets.get(each) or {}).get("AvailabilityZone") for each in rds._parse_member_list(params, "SubnetIds")}
            if len(zones) < 2:
                return rds._error("DBSubnetGroupDoesNotCoverEnoughAZs", "The DB subnet group doesn't meet Availability Zone (AZ) coverage "
                                  "requirement. Current AZ coverage: " + ", ".join(sorted(map(str, zones))) + ". Add subnets to cover at "
                                  "least 2 AZs.", 400)
            return original(params)

        return call

    def delete_group(original):
        def call(params):
            settle()
            name = value(params, "DBSubnetGroupName")
            for instance in rds._instances.values():
                if instance["DBSubnetGroup"]["DBSubnetGroupName"] == name:
                    return rds._error("InvalidDBSubnetGroupStateFault", f"Cannot delete the subnet group '{name}' because at least one "
                                      f"database instance: {instance['DBInstanceIdentifier']} is still using it.", 400)
            return original(params)

        return call

    for action, change in {
        "CreateDBInstance": create, "DeleteDBInstance": delete, "DescribeDBInstances": describe,
        "CreateDBSubnetGroup": create_group, "DeleteDBSubnetGroup": delete_group,
    }.items():
        rds._ACTION_MAP[action] = change(rds._ACTION_MAP[action])


def named(call):
    """The resources of a call, and the rights that it needs besides (Service Authorization Reference, "Amazon RDS")."""
    found = [f"{kind}:{name}" for kind, parameter in (("db", "DBInstanceIdentifier"), ("subgrp", "DBSubnetGroupName"),
             ("snapshot", "DBSnapshotIdentifier")) if (name := call.param(parameter))]
    if call.operation == "CreateDBInstance":
        engine = call.param("Engine")
        found += [f"pg:{call.param('DBParameterGroupName') or f'default.{engine}'}", f"og:{call.param('OptionGroupName') or f'default:{engine}'}"]
    if call.operation == "DescribeDBInstances" and not found:
        found = ["db:*"]
    call.resources = [call.arn(each) for each in found] or ([call.param("ResourceName")] if call.param("ResourceName") else call.resources)
    if call.operation.startswith("Create") and any(name.startswith("Tags.") for name in call.params):
        call.also.append(("rds", "rds:AddTagsToResource", call.resources[0], {}))
    if call.operation == "DeleteDBInstance" and call.param("FinalDBSnapshotIdentifier"):
        for resource in (call.resources[0], call.arn(f"snapshot:{call.param('FinalDBSnapshotIdentifier')}")):
            call.also.append(("rds", "rds:CreateDBSnapshot", resource, {}))

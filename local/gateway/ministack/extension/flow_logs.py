"""Flow logs: their tags, the role that writes them, and those that exist already."""

from .authorization import CALLS
from .shared import replace


def extend(_app, _secret):
    """ministack knows their tags under another type than EC2, forgets the role, passes it to nobody, and makes the same flow log twice.

    EC2 API Reference, CreateFlowLogs: TagSpecification has the type vpc-flow-log, and FlowLog tells deliverLogsPermissionArn. FlowLogAlreadyExists
    is among EC2's error codes: a flow log with the specified configuration already exists.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    create, describe = calls["CreateFlowLogs"], calls["DescribeFlowLogs"]

    def tag_specs(original):
        return lambda params, kind, id_: original(params, "vpc-flow-log" if kind == "flow-log" else kind, id_)

    def create_flow_logs(params):
        asked = {
            "ResourceId": ec2._p(params, "ResourceId.1"),
            "TrafficType": ec2._p(params, "TrafficType") or "ALL",
            "LogDestination": ec2._p(params, "LogDestination") or ec2._p(params, "LogGroupName"),
        }
        if asked["ResourceId"] not in ec2._vpcs:
            return ec2._error("InvalidVpcId.NotFound", f"The vpc ID '{asked['ResourceId']}' does not exist", 400)
        if any(all(log[name] == value for name, value in asked.items()) for log in ec2._flow_logs.values()):
            return ec2._error("FlowLogAlreadyExists", "There is an existing Flow Log with the same configuration and log destination", 400)
        before = set(ec2._flow_logs)
        answer = create(params)
        for made in set(ec2._flow_logs) - before:
            ec2._flow_logs[made]["DeliverLogsPermissionArn"] = ec2._p(params, "DeliverLogsPermissionArn")
        return answer

    def describe_flow_logs(params):
        status, headers, body = describe(params)
        for id_, log in ec2._flow_logs.items():
            told = f"<flowLogId>{id_}</flowLogId>"
            role = log.get("DeliverLogsPermissionArn") or ""
            body = body.replace(told.encode(), f"{told}<deliverLogsPermissionArn>{role}</deliverLogsPermissionArn>".encode())
        return status, headers, body

    def passing(named):
        def of(call):
            named(call)
            role = call.param("DeliverLogsPermissionArn") if call.operation == "CreateFlowLogs" else ""
            if role:
                call.passes_role(role, "vpc-flow-logs.amazonaws.com")

        return of

    replace(ec2, "_parse_tag_specs", tag_specs)
    calls.update(CreateFlowLogs=create_flow_logs, DescribeFlowLogs=describe_flow_logs)
    CALLS["ec2"] = passing(CALLS["ec2"])

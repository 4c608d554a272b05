"""Service Quotas, and the quotas that creating something is held to."""

import json

from .added_services import add_service, answered, refuse

# AWS's defaults of what the fleet makes, by service and quota code. Sources: AWS General Reference, "Amazon VPC endpoints and quotas"
# and "Amazon EC2 endpoints and quotas"; EKS Best Practices Guide, "Known Limits and Service Quotas"; EKS User Guide, "View and manage
# Amazon EKS service quotas". `global`: of the account; Service Quotas tells it in us-east-1 only (its API reference, GetServiceQuota).
QUOTAS = {
    ("vpc", "L-F678F1CE"): {"name": "VPCs per Region", "default": 5},
    ("vpc", "L-FE5A380F"): {"name": "NAT gateways per Availability Zone", "default": 5},
    ("vpc", "L-1B52E74A"): {"name": "Gateway VPC endpoints per Region", "default": 20},
    ("ec2", "L-0263D0A3"): {"name": "EC2-VPC Elastic IPs", "default": 5},
    ("ec2", "L-1216C47A"): {"name": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "default": 5},
    ("ec2", "L-34B43A08"): {"name": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "default": 5},
    ("eks", "L-1194D53C"): {"name": "Clusters", "default": 100},
    ("iam", "L-858F3967"): {"name": "OpenId connect providers per account", "default": 100, "global": True},
    ("iam", "L-FE177D64"): {"name": "Roles per account", "default": 1000, "global": True},
}
SERVICES = {
    "vpc": "Amazon Virtual Private Cloud (Amazon VPC)", "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)", "iam": "AWS Identity and Access Management (IAM)",
}
HOME_REGION = "us-east-1"
_TARGET = "ServiceQuotasV20190624"
# Those that were raised.
_raised = {}


def in_force(service, code):
    """The value of a quota in the account and the region of the call."""
    return _raised["granted"].get(f"{service}/{code}", QUOTAS[service, code]["default"])


def extend(app, _secret):
    """Serves the quotas above and refuses, with AWS's codes, what exceeds them; EKS's is enforced by the gateway.

    A requested increase is granted at once. AWS grants small ones within minutes, and looks at others for days.
    """
    from ministack.core.responses import AccountRegionScopedDict, get_account_id, get_region
    from ministack.services import ec2, iam

    granted = _raised["granted"] = AccountRegionScopedDict()

    def described(service, code, value):
        quota = QUOTAS[service, code]
        return {
            "ServiceCode": service, "ServiceName": SERVICES[service], "QuotaCode": code, "QuotaName": quota["name"], "Value": float(value),
            "QuotaArn": f"arn:aws:servicequotas:{get_region()}:{get_account_id()}:{service}/{code}", "Unit": "None", "Adjustable": True,
            "GlobalQuota": quota.get("global", False),
        }

    def known(service):
        """The quotas of a service that this region tells."""
        return [code for (of, code), quota in QUOTAS.items() if of == service and (get_region() == HOME_REGION or not quota.get("global"))]

    def listed(request, value):
        codes = known(request.get("ServiceCode"))
        return {"Quotas": [described(request["ServiceCode"], code, value(request["ServiceCode"], code)) for code in codes]} if codes else None

    def got(request, value):
        service, code = request.get("ServiceCode"), request.get("QuotaCode")
        return {"Quota": described(service, code, value(service, code))} if code in known(service) else None

    def increase(request):
        service, code, desired = request.get("ServiceCode"), request.get("QuotaCode"), request.get("DesiredValue")
        if code not in known(service):
            return None
        if not isinstance(desired, (int, float)) or desired <= in_force(service, code):
            raise ValueError(f"The value {desired} is not above the quota in force, {in_force(service, code)}")
        granted[f"{service}/{code}"] = desired
        quota = described(service, code, desired)
        kept = {key: quota[key] for key in ("ServiceCode", "ServiceName", "QuotaCode", "QuotaName", "QuotaArn", "GlobalQuota", "Unit")}
        return {"RequestedQuota": {**kept, "Id": f"{service}-{code}".lower(), "DesiredValue": float(desired), "Status": "APPROVED"}}

    def default(service, code):
        return QUOTAS[service, code]["default"]

    operations = {
        "GetServiceQuota": lambda request: got(request, in_force),
        "GetAWSDefaultServiceQuota": lambda request: got(request, default),
        "ListServiceQuotas": lambda request: listed(request, in_force),
        "RequestServiceQuotaIncrease": increase,
    }

    async def serve(_method, _path, headers, body, _query_params):
        operation = headers.get("x-amz-target", "").partition(".")[2]
        if operation not in operations:
            return refuse("UnknownOperationException", f"the embedded cloud does not serve {operation} of Service Quotas")
        try:
            answer = operations[operation](json.loads(body or b"{}"))
        except ValueError as error:
            return refuse("IllegalArgumentException", str(error))
        if answer is None:
            return refuse("NoSuchResourceException", "The request failed because the specified quota does not exist.")
        return answered(answer)

    def named(call):
        # Reading is about no resource (Service Authorization Reference, "Service Quotas").
        quota = f"{call.member('ServiceCode')}/{call.member('QuotaCode')}"
        call.resources = [call.arn(quota) if call.operation == "RequestServiceQuotaIncrease" else "*"]

    add_service(
        app, "servicequotas", serve, named, _TARGET, r"^servicequotas\.",
        state=lambda: {"granted": granted}, load=lambda data: granted.update(data.get("granted", {})), reset=granted.clear,
    )

    def held(dispatch, operation, count, quota, refused):
        """Refuses an operation once `count` of its parameters has reached the quota."""
        original = dispatch[operation]

        def create(params):
            return refused(in_force(*quota)) if count(params) >= in_force(*quota) else original(params)

        dispatch[operation] = create

    def nat_gateways(params):
        """Those of the zone that are pending, there or being deleted (Amazon VPC User Guide, "Amazon VPC quotas")."""
        zone_of = lambda subnet: (ec2._subnets.get(subnet) or {}).get("AvailabilityZone")
        zone = zone_of(ec2._p(params, "SubnetId"))
        return sum(
            zone_of(gateway["SubnetId"]) == zone and gateway["State"] in ("pending", "available", "deleting")
            for gateway in ec2._nat_gateways.values()
        )

    def gateway_endpoints(params):
        """Interface endpoints have a quota of their own, by VPC."""
        is_gateway = lambda kind: (kind or "Gateway") == "Gateway"
        if not is_gateway(ec2._p(params, "VpcEndpointType")):
            return 0
        return sum(is_gateway(endpoint["VpcEndpointType"]) for endpoint in ec2._vpc_endpoints.values())

    # Codes and messages: EC2 API reference, "Error codes"; IAM's as it answers them.
    def ec2_limit(code, what):
        return lambda _: ec2._error(code, f"The maximum number of {what} has been reached.", 400)

    def iam_limit(quota):
        return lambda value: iam._error(409, "LimitExceeded", f"Cannot exceed quota for {quota}: {value:.0f}", ns="iam")

    ec2_actions, iam_actions = ec2._ACTION_MAP, iam._IAM_HANDLERS
    held(ec2_actions, "CreateVpc", lambda _: len(ec2._vpcs), ("vpc", "L-F678F1CE"), ec2_limit("VpcLimitExceeded", "VPCs"))
    held(ec2_actions, "CreateVpcEndpoint", gateway_endpoints, ("vpc", "L-1B52E74A"), ec2_limit("VpcEndpointLimitExceeded", "VPC endpoints"))
    held(ec2_actions, "AllocateAddress", lambda _: len(ec2._addresses), ("ec2", "L-0263D0A3"), ec2_limit("AddressLimitExceeded", "addresses"))
    held(ec2_actions, "CreateNatGateway", nat_gateways, ("vpc", "L-FE5A380F"), ec2_limit("NatGatewayLimitExceeded", "NAT Gateways"))
    held(iam_actions, "CreateRole", lambda _: len(iam._roles), ("iam", "L-FE177D64"), iam_limit("RolesPerAccount"))
    held(iam_actions, "CreateOpenIDConnectProvider", lambda _: len(iam._oidc_providers), ("iam", "L-858F3967"), iam_limit("OpenIdConnectProvidersPerAccount"))

"""Condition keys and resource names of IAM calls, and names of service-linked roles."""

from .authorization import CALLS, TAGS

# Calls on a user or role to which AWS gives the boundary that the entity has now as iam:PermissionsBoundary.
_ON_BOUNDED_ENTITY = {
    f"{verb}{entity}{noun}"
    for entity in ("Role", "User")
    for verb, noun in (("Attach", "Policy"), ("Detach", "Policy"), ("Put", "Policy"), ("Delete", "Policy"),
                       ("Delete", "PermissionsBoundary"))
} | {"DeleteRole", "GetRole", "UpdateAssumeRolePolicy", "UpdateRole", "UpdateRoleDescription"}
_SETS_BOUNDARY = {"CreateRole", "CreateUser", "PutRolePermissionsBoundary", "PutUserPermissionsBoundary"}

# Names of service-linked roles (IAM User Guide, "AWS services that work with IAM", and the services' own pages).
_LINKED = {"autoscaling.amazonaws.com": "AWSServiceRoleForAutoScaling", "spot.amazonaws.com": "AWSServiceRoleForEC2Spot"}


def extend(_app, _secret):
    """Condition keys and ARNs of IAM calls (Service Authorization Reference, "Actions ... for AWS IAM")."""
    from ministack.services import iam

    def named(call):
        call.resources = [iam_arn(iam, call.param, call.account) or call.resources[0]]
        call.context = {key: value for key, value in context(call.operation, call.param) if value}
        role = iam._roles.get(call.param("RoleName"))
        if call.operation == "AddRoleToInstanceProfile" and role:
            call.passes_role(role["Arn"], "ec2.amazonaws.com")

    def context(operation, param):
        if operation in _SETS_BOUNDARY:
            yield "iam:PermissionsBoundary", param("PermissionsBoundary")
        entity = iam._roles.get(param("RoleName")) or iam._users.get(param("UserName")) or {}
        for tag in entity.get("Tags") or []:
            yield f"iam:ResourceTag/{tag['Key']}", tag["Value"]
        if operation in _ON_BOUNDED_ENTITY:
            yield "iam:PermissionsBoundary", entity.get("PermissionsBoundary")
        if operation.endswith("Policy") and operation.startswith(("Attach", "Detach")):
            yield "iam:PolicyARN", param("PolicyArn")
        if operation == "CreateServiceLinkedRole":
            yield "iam:AWSServiceName", param("AWSServiceName")

    def tags(arn):
        profile = arn.partition(":instance-profile/")[2].rpartition("/")[2]
        tagged = iam._instance_profiles.get(profile) if profile else iam._oidc_providers.get(arn)
        return {tag["Key"]: tag["Value"] for tag in tagged.get("Tags") or []} if tagged else None

    def linked(original):
        """ministack derives a service-linked role's name from the service's."""

        def call(params):
            service = iam._p(params, "AWSServiceName")
            derived = f"AWSServiceRoleFor{service.partition('.')[0].capitalize()}"
            name = _LINKED.get(service, derived)
            if name in iam._roles:
                message = f"Service role name {name} has been taken in this account, please try a different suffix."
                return iam._error(400, "InvalidInput", message, ns="iam")
            status, headers, body = original(params)
            if status == 200 and name != derived:
                role = iam._roles.pop(derived)
                iam._roles[name] = {**role, "RoleName": name, "Arn": role["Arn"].replace(derived, name)}
                body = body.replace(derived.encode(), name.encode())
            return status, headers, body

        return call

    iam._IAM_HANDLERS["CreateServiceLinkedRole"] = linked(iam._IAM_HANDLERS["CreateServiceLinkedRole"])
    CALLS["iam"] = named
    TAGS["iam"] = tags


def iam_arn(iam, param, account):
    """The ARN, with its path, of what an IAM call is about; None where ministack's own answer stands."""
    prefix = f"arn:aws:iam::{account}:"
    path = param("Path") or "/"
    if name := param("InstanceProfileName"):
        stored = iam._instance_profiles.get(name)
        return stored["Arn"] if stored else f"{prefix}instance-profile{path}{name}"
    for kind, store, name in (("role", iam._roles, param("RoleName")), ("user", iam._users, param("UserName"))):
        if name:
            stored = store.get(name)
            return stored["Arn"] if stored else f"{prefix}{kind}{path}{name}"
    if name := param("PolicyName"):
        return f"{prefix}policy{path}{name}"
    if param("OpenIDConnectProviderArn"):
        return param("OpenIDConnectProviderArn")
    if url := param("Url"):
        return f"{prefix}oidc-provider/{url.split('://', 1)[-1].rstrip('/')}"
    return None

"""Condition keys and resource names of IAM calls."""

from .shared import replace

# Calls on a user or role to which AWS gives the boundary that the entity has now as iam:PermissionsBoundary.
_ON_BOUNDED_ENTITY = {
    f"{verb}{entity}{noun}"
    for entity in ("Role", "User")
    for verb, noun in (("Attach", "Policy"), ("Detach", "Policy"), ("Put", "Policy"), ("Delete", "Policy"),
                       ("Delete", "PermissionsBoundary"))
}
_SETS_BOUNDARY = {"CreateRole", "CreateUser", "PutRolePermissionsBoundary", "PutUserPermissionsBoundary"}


def extend_iam():
    """Condition keys and ARNs of IAM calls (Service Authorization Reference, "Actions ... for AWS IAM")."""
    from ministack.core import iam_actions as actions
    from ministack.services import iam, tagging

    def context(operation, param):
        keys = {}
        if operation in _SETS_BOUNDARY:
            keys["iam:PermissionsBoundary"] = param("PermissionsBoundary")
        elif operation in _ON_BOUNDED_ENTITY:
            entity = iam._roles.get(param("RoleName")) or iam._users.get(param("UserName")) or {}
            keys["iam:PermissionsBoundary"] = entity.get("PermissionsBoundary")
        if operation.endswith("Policy") and operation.startswith(("Attach", "Detach")):
            keys["iam:PolicyARN"] = param("PolicyArn")
        if operation == "CreateServiceLinkedRole":
            keys["iam:AWSServiceName"] = param("AWSServiceName")
        return {key: value for key, value in keys.items() if value}

    def request_context(original):
        def keys(service, iam_action, body, params):
            found = original(service, iam_action, body, params)
            if service != "iam":
                return found
            operation = iam_action.split(":", 1)[1]
            return {**found, **context(operation, lambda name: actions._query_param(params, name))}

        return keys

    def resource(original):
        def arn(service, method, path, headers, body, query_params, region, account_id):
            found = original(service, method, path, headers, body, query_params, region, account_id)
            if service != "iam":
                return found
            return iam_arn(iam, lambda name: actions._query_param(query_params, name), account_id) or found

        return arn

    def resource_tags(original):
        def tags(arn):
            provider = iam._oidc_providers.get(arn) if ":oidc-provider/" in arn else None
            return {tag["Key"]: tag["Value"] for tag in provider.get("Tags") or []} if provider else original(arn)

        return tags

    replace(actions, "request_tag_context", request_context)
    replace(actions, "extract_resource_arn", resource)
    replace(tagging, "resource_tags", resource_tags)


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

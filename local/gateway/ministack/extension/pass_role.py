"""iam:PassRole."""

from .shared import assertion, denied_as, passed_roles, replace


def extend_pass_role():
    """A call that hands a role to a service also needs iam:PassRole on that role, for that service."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import iam

    def passed(service, operation, param):
        if service == "iam" and operation == "AddRoleToInstanceProfile":
            role = iam._roles.get(param("RoleName"))
            return [(role["Arn"], "ec2.amazonaws.com")] if role else []
        if service == "ec2" and operation in ("RunInstances", "AssociateIamInstanceProfile"):
            name = param("IamInstanceProfile.Name") or param("IamInstanceProfile.Arn").rsplit("/", 1)[-1]
            roles = (iam._instance_profiles.get(name) or {}).get("Roles", []) if name else []
            return [(iam._roles.get(role)["Arn"], "ec2.amazonaws.com") for role in roles if iam._roles.get(role)]
        return []

    def request_context(original):
        def keys(service, iam_action, body, params):
            denied_as.set(None)
            asserted = (assertion.get() or {}).get("passRoles", []) if service == "eks" else None
            passed_roles.set(
                tuple((role["arn"], role["service"]) for role in asserted) if asserted is not None
                else tuple(passed(service, iam_action.split(":", 1)[1], lambda name: actions._query_param(params, name))))
            return original(service, iam_action, body, params)

        return keys

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            denied = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            if denied:
                return denied
            roles = passed_roles.get()
            passed_roles.set(())
            for role, to in roles:
                denied = original(access_key_id, "iam:PassRole", "iam", region, role, {"iam:PassedToService": to})
                if denied:
                    denied_as.set(("iam:PassRole", role))
                    return denied
            return None

        return check

    def denial(original):
        def response(service, action, principal_arn, request_id, **options):
            instead = denied_as.get()
            if instead and not options.get("error_code"):
                action, options["resource_arn"] = instead
            if service in ("eks", "iam") and not options.get("error_code"):
                options["message"] = actions.identity_denial_message(
                    action, principal_arn, options.get("resource_arn", "*"), options.get("explicit_deny", False))
            return original(service, action, principal_arn, request_id, **options)

        return response

    replace(actions, "request_tag_context", request_context)
    replace(evaluator, "enforce", enforce)
    replace(actions, "access_denied_response", denial)

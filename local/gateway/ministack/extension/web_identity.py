"""AssumeRoleWithWebIdentity, and the ARN of the role that a session is asked for."""

from .shared import replace, verified


def extend(_app, secret):
    """ministack reads a web identity token without checking it: take its claims only under the gateway's signature.

    It also finds a role by its name alone. An ARN with another path is no role for AWS (IAM User Guide, "IAM identifiers").
    """
    from ministack.services import iam, sts

    def principal(original):
        def claims_of(token, provider_id, role_arn):
            if verified(token, secret) is None:
                return "", {}
            return original(token, provider_id, role_arn)

        return claims_of

    def assumed(original):
        def session_arn(role_arn, session_name):
            arn, refused = original(role_arn, session_name)
            role = None if refused else iam._roles.get_scoped(role_arn.split(":")[4], None, role_arn.rpartition("/")[2])
            if role is not None and role["Arn"] != role_arn:
                return None, sts._error(403, "AccessDenied", f"Not authorized to assume {role_arn}: there is no such role", ns="sts")
            return arn, refused

        return session_arn

    replace(sts, "_assumed_role_arn", assumed)
    replace(sts, "_web_identity_principal", principal)

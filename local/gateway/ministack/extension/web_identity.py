"""AssumeRoleWithWebIdentity."""

from .shared import replace, verified


def extend(_app, secret):
    """ministack reads a web identity token without checking it: take its claims only under the gateway's signature."""
    from ministack.services import sts

    def principal(original):
        def claims_of(token, provider_id, role_arn):
            if verified(token, secret) is None:
                return "", {}
            return original(token, provider_id, role_arn)

        return claims_of

    replace(sts, "_web_identity_principal", principal)

"""Who a caller is."""

from .shared import replace, root_account


def extend(app, secret):
    """Only the secret key ids are root, each of its account, and a request that names no key is refused unless AWS serves it unsigned."""
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import sts

    nobody = evaluator.AuthError("MissingAuthenticationToken", "Request is missing Authentication Token")
    replace(evaluator, "is_root_access_key", lambda _: lambda key: not key or root_account(key, secret) is not None)
    # Keys of users, and of sessions, ministack finds in their accounts itself.
    replace(app, "_request_account_scope", lambda original: lambda key: root_account(key, secret) or original(key))
    replace(sts, "_access_key_account", lambda original: lambda key: root_account(key, secret) or original(key))

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            if not access_key_id and not evaluator._served_unsigned(service, iam_action):
                return nobody
            return original(access_key_id, iam_action, service, region, resource_arn, service_context)

        return check

    replace(evaluator, "enforce", enforce)
    replace(evaluator, "check_credentials", lambda original: lambda key, service=None: original(key, service) if key else nobody)

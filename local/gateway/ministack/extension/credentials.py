"""Who a caller is."""

from .shared import replace, root_key_id


def extend(_app, secret):
    """Only the secret key id is root, and a request that names no key is refused unless AWS serves it unsigned."""
    from ministack.core import iam_evaluator as evaluator

    nobody = evaluator.AuthError("MissingAuthenticationToken", "Request is missing Authentication Token")
    root = root_key_id(secret)
    replace(evaluator, "is_root_access_key", lambda _: lambda key: not key or key == root)

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            if not access_key_id and not evaluator._served_unsigned(service, iam_action):
                return nobody
            return original(access_key_id, iam_action, service, region, resource_arn, service_context)

        return check

    replace(evaluator, "enforce", enforce)
    replace(evaluator, "check_credentials", lambda original: lambda key, service=None: original(key, service) if key else nobody)

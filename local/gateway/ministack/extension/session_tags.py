"""Session tags."""

import contextvars

from .shared import replace

_request = contextvars.ContextVar("fleet_sts_request", default=None)


def extend(app, _secret):
    """Transitive tags go on to the sessions that a session makes, and each tag needs sts:TagSession of the caller as well as of the role.

    IAM User Guide, "Pass session tags in AWS STS". ministack drops transitive tags, and asks the role's trust policy alone.
    """
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_region
    from ministack.core.router import extract_access_key_id
    from ministack.services import sts

    handler = app.SERVICE_HANDLERS["sts"]

    async def handle(method, path, headers, body, query_params):
        _request.set({"key": extract_access_key_id(headers, query_params) or "", "transitive": []})
        return await handler(method, path, headers, body, query_params)

    def tags(original):
        def of(params, check=True):
            asked, refused = original(params, check)
            role, request = sts._p(params, "RoleArn"), _request.get()
            if refused or not role or request is None:
                return asked, refused
            inherited = transitive(sts._sessions.get(request["key"]) or {})
            again = {tag["Key"].lower() for tag in asked} & {tag["Key"].lower() for tag in inherited}
            if again:
                return None, sts._error(
                    400, "InvalidParameterValue",
                    f"The transitive tag keys {', '.join(sorted(again))} of the calling session can't be set again.", ns="sts")
            every = inherited + asked
            context = {f"aws:RequestTag/{tag['Key']}": tag["Value"] for tag in every}
            context["aws:TagKeys"] = [tag["Key"] for tag in every]
            denied = every and evaluator.enforce(request["key"], "sts:TagSession", "sts", get_region(), role, context)
            if denied:
                caller = getattr(denied, "principal_arn", "")
                return None, sts._error(
                    403, "AccessDenied", f"User: {caller} is not authorized to perform: sts:TagSession on resource: {role}", ns="sts")
            request["transitive"] = [tag["Key"] for tag in inherited] + keys_in(params)
            return every, None

        return of

    def register(original):
        def session(access_key, made):
            keys = (_request.get() or {}).get("transitive")
            return original(access_key, {**made, "TransitiveTagKeys": keys} if keys else made)

        return session

    app.SERVICE_HANDLERS["sts"] = handle
    replace(sts, "_session_tags", tags)
    replace(sts, "register_session", register)


def transitive(session):
    keys = session.get("TransitiveTagKeys") or []
    return [tag for tag in session.get("SessionTags") or [] if tag["Key"] in keys]


def keys_in(params):
    """TransitiveTagKeys of a request, from the query or the JSON form."""
    listed = params.get("TransitiveTagKeys")
    if isinstance(listed, list) and listed:
        return [str(key) for key in listed]
    members = (params.get(f"TransitiveTagKeys.member.{at}") for at in range(1, 51))
    return [member[0] if isinstance(member, list) else member for member in members if member]

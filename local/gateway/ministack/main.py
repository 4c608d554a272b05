"""ministack, with what the gateway needs of it added where requests are authorized.

Authorization belongs in one place: a second evaluator in front of ministack would sooner or later decide otherwise.
So the condition keys, resource names and checks that ministack 1.5.33 lacks are added to its own evaluation here:

- iam:PermissionsBoundary, iam:PolicyARN, iam:AWSServiceName and ARNs with paths for IAM;
- kms alias calls on the alias and its keys;
- iam:PassRole, with iam:PassedToService, wherever a call hands a role to a service;
- EKS calls: the gateway owns the API and names action, resource and roles passed in a signed assertion;
- web identity: only tokens that the gateway verified and signed again count;
- its root key is a secret (ministack takes "test" and any twelve digits), a request without a key is nobody's;
- every change is on disk before it is answered, sessions too (ministack saves on a clean stop only).

Environment: FLEET_MINISTACK_KEY (path of the key file shared with the gateway), STATE_DIR, BIND_HOST, GATEWAY_PORT.
"""

import base64
import binascii
import contextvars
import hashlib
import hmac
import json
import os
import sys
import time

VERSION = "1.5.33"

# The operations of the unsigned STS API that ministack serves and the gateway checks.
_READ_PREFIXES = ("Describe", "Get", "List", "BatchGet", "Head", "Lookup", "Search", "Simulate")

_assertion = contextvars.ContextVar("fleet_assertion", default=None)
_passed_roles = contextvars.ContextVar("fleet_passed_roles", default=())
_alias_keys = contextvars.ContextVar("fleet_alias_keys", default=())
_denied_as = contextvars.ContextVar("fleet_denied_as", default=None)


def main():
    with open(os.environ["FLEET_MINISTACK_KEY"], encoding="ascii") as file:
        secret = bytes.fromhex(file.read().strip())
    os.environ.update(AUTH="true", PERSIST_STATE="1", AWS_ACCESS_KEY_ID=root_key_id(secret))
    os.makedirs(os.environ["STATE_DIR"], mode=0o700, exist_ok=True)
    from importlib.metadata import version

    if version("ministack") != VERSION:
        sys.exit(f"ministack {version('ministack')} is installed, this extension was written for {VERSION}")
    from ministack import app

    extend_credentials(root_key_id(secret))
    extend_iam()
    extend_pass_role()
    extend_kms()
    extend_eks(app, secret)
    extend_web_identity(secret)
    extend_persistence(app)
    app.main()


def root_key_id(secret):
    """The access key id of the account's root. ministack checks no signature for it, so the id itself is the secret."""
    return "ROOT" + hmac.new(secret, b"root access key", hashlib.sha256).hexdigest()[:28].upper()


def verified(token, secret):
    """The claims of a compact HS256 JWS signed with the shared key, or None when it isn't one or has expired."""
    try:
        signed, _, signature = token.rpartition(".")
        header, _, payload = signed.partition(".")
        if json.loads(_decode(header)).get("alg") != "HS256":
            return None
        expected = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(expected, _decode(signature)):
            return None
        claims = json.loads(_decode(payload))
    except (ValueError, AttributeError, binascii.Error):
        return None
    return claims if isinstance(claims, dict) and claims.get("gatewayExp", 0) > time.time() else None


def _decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _replace(module, name, make):
    """Replaces a function by `make(original)`; a name that is gone ends the process instead of leaving a hole."""
    setattr(module, name, make(getattr(module, name)))


def extend_credentials(root):
    """Only the secret key id is root, and a request that names no key is refused unless AWS serves it unsigned."""
    from ministack.core import iam_evaluator as evaluator

    nobody = evaluator.AuthError("MissingAuthenticationToken", "Request is missing Authentication Token")
    _replace(evaluator, "is_root_access_key", lambda _: lambda key: not key or key == root)

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            if not access_key_id and not evaluator._served_unsigned(service, iam_action):
                return nobody
            return original(access_key_id, iam_action, service, region, resource_arn, service_context)

        return check

    _replace(evaluator, "enforce", enforce)
    _replace(evaluator, "check_credentials", lambda original: lambda key, service=None: original(key, service) if key else nobody)


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
    from ministack.services import iam

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

    _replace(actions, "request_tag_context", request_context)
    _replace(actions, "extract_resource_arn", resource)


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
            _denied_as.set(None)
            asserted = (_assertion.get() or {}).get("passRoles", []) if service == "eks" else None
            _passed_roles.set(
                tuple((role["arn"], role["service"]) for role in asserted) if asserted is not None
                else tuple(passed(service, iam_action.split(":", 1)[1], lambda name: actions._query_param(params, name))))
            return original(service, iam_action, body, params)

        return keys

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            denied = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            if denied:
                return denied
            roles = _passed_roles.get()
            _passed_roles.set(())
            for role, to in roles:
                denied = original(access_key_id, "iam:PassRole", "iam", region, role, {"iam:PassedToService": to})
                if denied:
                    _denied_as.set(("iam:PassRole", role))
                    return denied
            return None

        return check

    def denial(original):
        def response(service, action, principal_arn, request_id, **options):
            instead = _denied_as.get()
            if instead and not options.get("error_code"):
                action, options["resource_arn"] = instead
            if service in ("eks", "iam") and not options.get("error_code"):
                options["message"] = actions.identity_denial_message(
                    action, principal_arn, options.get("resource_arn", "*"), options.get("explicit_deny", False))
            return original(service, action, principal_arn, request_id, **options)

        return response

    _replace(actions, "request_tag_context", request_context)
    _replace(evaluator, "enforce", enforce)
    _replace(actions, "access_denied_response", denial)


def extend_kms():
    """A call about an alias is authorized on the alias and on every key that it binds or frees (KMS, "Controlling access to aliases")."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import kms

    def resource(original):
        def arn(service, method, path, headers, body, query_params, region, account_id):
            found = original(service, method, path, headers, body, query_params, region, account_id)
            _alias_keys.set(())
            alias = actions._safe_json_field(body, "AliasName") if service == "kms" else None
            if not alias:
                return found
            prefix = f"arn:aws:kms:{region}:{account_id}:"
            bound = (kms._aliases.get(f"{prefix}{alias}"), actions._safe_json_field(body, "TargetKeyId"))
            _alias_keys.set(tuple(key if key.startswith("arn:") else f"{prefix}key/{key}" for key in bound if key))
            return f"{prefix}{alias}"

        return arn

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            keys = _alias_keys.get() if service == "kms" else ()
            _alias_keys.set(())
            checks = (original(access_key_id, iam_action, service, region, arn, service_context) for arn in (resource_arn, *keys))
            return next((denied for denied in checks if denied), None)

        return check

    _replace(actions, "extract_resource_arn", resource)
    _replace(evaluator, "enforce", enforce)


def extend_eks(app, secret):
    """EKS calls are authorized here as the gateway's assertion says, and answered with the caller's identity only."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator

    def asserted(headers):
        claims = verified(headers.get("x-fleet-assertion", ""), secret)
        _assertion.set(claims)
        return claims

    def action(original):
        def name(service, method, path, headers, body, query_params):
            if service != "eks":
                return original(service, method, path, headers, body, query_params)
            claims = asserted(headers)
            return f"eks:{claims['action']}" if claims else "eks:NotAsserted"

        return name

    def resource(original):
        def arn(service, *request):
            return (_assertion.get() or {}).get("resource", "*") if service == "eks" else original(service, *request)

        return arn

    def request_context(original):
        def keys(service, iam_action, body, params):
            found = original(service, iam_action, body, params)
            return {**found, **(_assertion.get() or {}).get("context", {})} if service == "eks" else found

        return keys

    async def identity(_method, _path, _headers, _body, _query_params):
        if _assertion.get() is None:
            return 403, {"Content-Type": "application/json"}, b'{"message":"the EKS API is served by the gateway only"}'
        return 200, {"Content-Type": "application/json"}, json.dumps({"caller": evaluator.caller_arn()}).encode()

    _replace(actions, "extract_iam_action", action)
    _replace(actions, "extract_resource_arn", resource)
    _replace(actions, "request_tag_context", request_context)
    app.SERVICE_HANDLERS["eks"] = identity


def extend_web_identity(secret):
    """ministack reads a web identity token without checking it: take its claims only under the gateway's signature."""
    from ministack.services import sts

    def principal(original):
        def claims_of(token, provider_id, role_arn):
            if verified(token, secret) is None:
                return "", {}
            return original(token, provider_id, role_arn)

        return claims_of

    _replace(sts, "_web_identity_principal", principal)


def extend_persistence(app):
    """Saves a service's state before a change to it is answered, so that a killed process loses nothing answered."""
    from ministack.core.persistence import save_state
    from ministack.services import sts

    sts.get_state = lambda: {"sessions": sts._sessions}
    sts.load_persisted_state = lambda data: sts._sessions.update(data.get("sessions", {}))

    def dispatch(original):
        async def respond(method, path, headers, body, query_params, request_id):
            answer = await original(method, path, headers, body, query_params, request_id)
            service = app.detect_service(method, path, headers, app._routing_params(method, path, headers, body, query_params))
            config = app.SERVICE_REGISTRY.get(service)
            if config and service != "eks" and answer[0] < 400 and changes(app, service, method, path, headers, body, query_params):
                module = app._get_module(config["module"])
                save_state(config.get("state_key", config["module"]), module.get_state())
            return answer

        return respond

    _replace(app, "_dispatch_service_request", dispatch)


def changes(app, service, method, path, headers, body, query_params):
    """Whether a call may change state: all that don't read by their name."""
    from ministack.core.iam_actions import extract_iam_action

    params = app._routing_params(method, path, headers, body, query_params)
    action = extract_iam_action(service, method, path, headers, body, params) or ""
    name = action.partition(":")[2]
    # Sessions are made by calls whose names read like Get.
    return service == "sts" and name != "GetCallerIdentity" or not name.startswith(_READ_PREFIXES)


if __name__ == "__main__":
    main()

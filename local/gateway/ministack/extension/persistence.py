"""State on disk."""

from .asserted import SERVICES
from .shared import replace

# Operations that change nothing, by the beginning of their names.
_READ_PREFIXES = ("Describe", "Get", "List", "BatchGet", "Head", "Lookup", "Search", "Simulate", "Query", "Scan", "Encrypt", "Decrypt")


def extend(app, _secret):
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
            if config and service not in SERVICES and answer[0] < 400 and changes(app, service, method, path, headers, body, query_params):
                module = app._get_module(config["module"])
                save_state(config.get("state_key", config["module"]), module.get_state())
            return answer

        return respond

    replace(app, "_dispatch_service_request", dispatch)


def changes(app, service, method, path, headers, body, query_params):
    """Whether a call may change state: all that don't read by their name."""
    from ministack.core.iam_actions import extract_iam_action

    params = app._routing_params(method, path, headers, body, query_params)
    action = extract_iam_action(service, method, path, headers, body, params) or ""
    name = action.partition(":")[2]
    # Sessions are made by calls whose names read like Get.
    return service == "sts" and name != "GetCallerIdentity" or not name.startswith(_READ_PREFIXES)

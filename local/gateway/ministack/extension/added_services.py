"""Services that ministack lacks, whose calls come as JSON with the header x-amz-target."""

import json
import sys
import types

from .authorization import CALLS

_CONTENT_TYPE = "application/x-amz-json-1.1"


def refuse(code, message):
    from ministack.core.responses import error_response_json

    return error_response_json(code, message, 400, content_type=_CONTENT_TYPE, message_key="Message")


def answered(answer):
    return 200, {"Content-Type": _CONTENT_TYPE}, json.dumps(answer).encode()


def add_service(app, name, serve, named, target, host, state=dict, load=lambda _: None, reset=lambda: None):
    """Adds a service: `serve` answers its calls and `named` tells their resources; `target` and the pattern `host` are what they are known by.

    `state` gives what is kept in ministack's snapshot, `load` takes it back and `reset` forgets it; by default there is nothing.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import router

    module = types.ModuleType(f"ministack.services.{name}")
    module.handle_request, module.get_state, module.load_persisted_state, module.reset = serve, state, load, reset
    sys.modules[module.__name__] = module
    router.SERVICE_PATTERNS[name] = {"host_patterns": [host], "target_prefixes": [target]}
    actions.SERVICE_TO_IAM_NAMESPACE[name] = name
    CALLS[name] = named
    app.SERVICE_REGISTRY[name] = {"module": name}
    app._state_map[name] = name
    app.SERVICE_HANDLERS[name] = serve

"""Calls of EC2 that only ask whether they would succeed."""

# They look at what they are given before they say so.
LOOKING = ("CreateFleet", "RunInstances")
# EC2 API Reference, "Error codes", DryRunOperation; its status is 412 (Precondition Failed).
_MESSAGE = "Request would have succeeded, but DryRun flag is set."


def is_dry(ec2, params):
    return ec2._p(params, "DryRun").lower() == "true"


def would_succeed(ec2):
    return ec2._error("DryRunOperation", _MESSAGE, 412)


def extend(_app, _secret):
    """ministack carries them out. To be called after all that add calls of EC2."""
    from ministack.services import ec2

    def asking(original):
        return lambda params: would_succeed(ec2) if is_dry(ec2, params) else original(params)

    for name, original in ec2._ACTION_MAP.items():
        if name not in LOOKING:
            ec2._ACTION_MAP[name] = asking(original)

"""ministack, with what the gateway needs of it added where requests are authorized.

Authorization belongs in one place: a second evaluator in front of ministack would sooner or later decide otherwise.
So the condition keys, resource names, checks and limits that ministack 1.5.33 lacks are added to its own evaluation here; each part
of `extension` says what it adds, and why.

Environment: FLEET_MINISTACK_KEY (path of the key file shared with the gateway), FLEET_FAULTS (path of faults.json, see
../faults/faults.ts), STATE_DIR, BIND_HOST, GATEWAY_PORT, FLEET_PUBLIC_PARAMETERS (JSON, values by name), FLEET_PUBLIC_ADDRESSES (a network: public
addresses of load balancers).
"""

import os
import sys
from importlib import import_module
from importlib.metadata import version

from extension.shared import root_key_id

VERSION = "1.5.33"

# In this order: authorization wraps what those before it replace.
EXTENSIONS = (
    "credentials", "policy_variables", "accounts", "secrets", "ecr", "iam", "managed_policies", "kms", "ec2", "load_balancer_interfaces", "load_balancers",
    "load_balancer_details", "classic_load_balancers", "peering", "nat_gateways", "filters", "flow_logs", "vpc_blocks", "transit_gateways", "transit_attachments", "block_public_access", "interface_endpoints",
    "scaling_groups", "node_instances", "node_images", "instance_types", "launched_instances", "volume_keys", "log_keys", "launches", "duplicates", "dependencies", "dynamodb",
    "rds", "sqs", "ssm", "route53", "asserted", "quotas", "pricing", "web_identity", "service_sessions", "dry_run", "session_tags", "service_control_policy", "authorization",
    "faults", "persistence",
)


def main():
    with open(os.environ["FLEET_MINISTACK_KEY"], encoding="ascii") as file:
        secret = bytes.fromhex(file.read().strip())
    os.environ.update(AUTH="true", PERSIST_STATE="1", AWS_ACCESS_KEY_ID=root_key_id(secret))
    os.makedirs(os.environ["STATE_DIR"], mode=0o700, exist_ok=True)
    if version("ministack") != VERSION:
        sys.exit(f"ministack {version('ministack')} is installed, this extension was written for {VERSION}")
    from ministack import app

    for name in EXTENSIONS:
        import_module(f"extension.{name}").extend(app, secret)
    app.main()


if __name__ == "__main__":
    main()

"""Resources and condition keys of Route 53 calls, and the tags of several resources in one call."""

import re
from xml.etree.ElementTree import SubElement

from .authorization import CALLS
from .shared import replace

_KEY = "route53:ChangeResourceRecordSets"


def extend(_app, _secret):
    """What ministack asks for only by the id of a hosted zone in the path, and a call that it lacks.

    GetChange is authorized on the change, the tags of several resources on each of them, and a change of records has three condition
    keys with all values of its batch (Service Authorization Reference, "Actions ... for Amazon Route 53"; Route 53 Developer Guide,
    "Using IAM policy conditions for fine-grained access control").
    """
    from ministack.services import route53

    def asked(call):
        path = call.path.removeprefix(f"/{route53.API_VERSION}/").strip("/").split("/")
        body = route53._parse_body(call.body)
        if path[0] == "change":
            call.resources = [f"arn:aws:route53:::change/{path[-1]}"]
        elif path[0] == "tags":
            ids = path[2:] or _ids(route53, body)
            call.resources = [f"arn:aws:route53:::{path[1]}/{one}" for one in ids] or call.resources
        elif call.operation == "ChangeResourceRecordSets" and body is not None:
            call.context = dict(_changes(route53, body))

    def handled(original):
        async def handle(method, path, headers, body, query_params):
            kind = re.fullmatch(rf"/{route53.API_VERSION}/tags/(hostedzone|healthcheck)/?", path)
            if method != "POST" or not kind:
                return await original(method, path, headers, body, query_params)
            return _tags(route53, kind[1], _ids(route53, route53._parse_body(body)))

        return handle

    replace(route53, "handle_request", handled)
    CALLS["route53"] = asked


def _ids(route53, body):
    ids = None if body is None else route53._find(body, "ResourceIds")
    return [] if ids is None else [one.text or "" for one in ids]


def _tags(route53, kind, ids):
    known = route53._zones if kind == "hostedzone" else route53._health_checks
    missing = [one for one in ids if one not in known]
    if missing or not ids:
        code = "NoSuchHostedZone" if kind == "hostedzone" else "NoSuchHealthCheck"
        return route53._error_response(code, f"No {kind} found with ID: {', '.join(missing)}", 404)

    def sets(root):
        found = SubElement(root, "ResourceTagSets")
        for one in ids:
            entry = SubElement(found, "ResourceTagSet")
            SubElement(entry, "ResourceType").text = kind
            SubElement(entry, "ResourceId").text = one
            tags = SubElement(entry, "Tags")
            for key, value in route53._tags.get((kind, one), {}).items():
                tag = SubElement(tags, "Tag")
                SubElement(tag, "Key").text = key
                SubElement(tag, "Value").text = value

    return route53._xml_response("ListTagsForResourcesResponse", sets)


def _changes(route53, body):
    """The condition keys of a batch of changes, each with all its values."""
    changes = [change for batch in route53._findall(body, "ChangeBatch") for all_ in route53._findall(batch, "Changes")
               for change in route53._findall(all_, "Change")]
    records = [record for change in changes for record in route53._findall(change, "ResourceRecordSet")]
    for key, values in (
        ("Actions", [route53._text(change, "Action") for change in changes]),
        ("RecordTypes", [route53._text(record, "Type") for record in records]),
        ("NormalizedRecordNames", [normalized(route53._text(record, "Name")) for record in records]),
    ):
        if values:
            yield f"{_KEY}{key}", sorted(set(values))


def normalized(name):
    """A record's name as policies give it: lower case, without a dot at its end, anything but a-z, 0-9, -, _ and . as \\ooo (octal)."""
    plain = re.sub(r"\\([0-3][0-7]{2})", lambda code: chr(int(code[1], 8)), name).lower().removesuffix(".")
    return "".join(char if re.fullmatch(r"[a-z0-9._-]", char) else f"\\{ord(char):03o}" for char in plain)

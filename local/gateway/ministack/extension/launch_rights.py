"""What may start instances: the rights that RunInstances and CreateFleet need, resource by resource."""

# What each instance is made of, with tags of its own.
_MADE = ("instance", "volume", "network-interface")


def judged(original, profile_of):
    """Rights of the two calls; `original` judges the others of EC2.

    Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2": each resource is asked for by itself, with
    aws:RequestTag of the tags that it gets, from the template too, and aws:ResourceTag of those that it has. A fleet of the type instant starts its
    instances with the rights of whoever asks (EC2 User Guide, "EC2 Fleet prerequisites"). AWS asks for the subnet that a fleet chooses, this for
    each that it may choose: stricter, never kinder.
    """
    from ministack.core import iam_actions as actions
    from ministack.services import ec2, iam

    from . import launches

    def of(call):
        if call.operation == "DeleteLaunchTemplate" and call.param("LaunchTemplateName"):
            found = launches.named(ec2, call.param("LaunchTemplateName"))
            call.resources = [call.arn(f"launch-template/{found['LaunchTemplateId'] if found else '*'}")]
        elif call.operation == "CreateFleet" and call.param("Type") == "instant":
            choices, _ = launches.of_fleet(ec2, call.params)
            launch(call, choices or [], "fleet")
        elif call.operation == "RunInstances" and launches.numbered(call.params, "LaunchTemplate"):
            choice, _ = launches.of_run_instances(ec2, call.params)
            launch(call, [choice] if choice else [])
        else:
            original(call)

    def launch(call, choices, fleet=None):
        asked = {key: None for key in actions.request_tag_context("ec2", f"ec2:{call.operation}", call.body, call.params)}
        used = list(dict.fromkeys(resource for choice in choices for resource in resources(call, choice)))
        # What does not exist is said by the call itself.
        call.resources = used[:1] or [call.arn(f"{fleet or 'instance'}/*")]
        tags = choices[0]["tags"] if choices else {}
        made = [*_MADE, *(["spot-instances-request"] if choices and choices[0]["spot"] else [])]
        for arn in used:
            # CreateFleet is not asked for the groups of a template.
            if not (fleet and ":security-group/" in arn):
                need(call, call.operation, arn, asked)
            if fleet:
                need(call, "RunInstances", arn, asked)
        for kind in ([fleet] if fleet else []) + made:
            own = keys(asked, tags.get(kind, {}))
            need(call, call.operation, call.arn(f"{kind}/*"), own)
            if fleet and kind != fleet:
                need(call, "RunInstances", call.arn(f"{kind}/*"), own)
            if tags.get(kind):
                action = "CreateFleet" if kind == fleet else "RunInstances"
                need(call, "CreateTags", call.arn(f"{kind}/*"), {**own, "ec2:CreateAction": action})
        for choice in choices:
            pass_role(call, choice)

    def resources(call, choice):
        yield call.arn(f"launch-template/{choice['template']['LaunchTemplateId']}")
        # Of images no account is named.
        yield f"arn:aws:ec2:{call.region}::image/{choice['image']}"
        yield call.arn(f"subnet/{choice['subnet']}")
        for group in choice["groups"]:
            yield call.arn(f"security-group/{group}")

    def need(call, action, arn, context):
        right = ("ec2", f"ec2:{action}", arn, context)
        if right not in call.also:
            call.also.append(right)

    def pass_role(call, choice):
        _, profile = profile_of(choice)
        for role in filter(None, map(iam._roles.get, (profile or {}).get("Roles", []))):
            right = ("iam", "iam:PassRole", role["Arn"], {"iam:PassedToService": "ec2.amazonaws.com"})
            if right not in call.also:
                call.also.append(right)

    return of


def keys(asked, tags):
    """The keys of a resource's own tags, and none of the other tags of the call."""
    own = {f"aws:RequestTag/{name}".lower(): value for name, value in tags.items()}
    return {**asked, **own, **({"aws:TagKeys": list(tags)} if tags else {})}

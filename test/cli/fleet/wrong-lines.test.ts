import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet deployer-policy", {
  "--fleet Shop --account 12 --region Frankfurt": [
    "--fleet: has another form | Shop | lower-case letters, digits and hyphens, beginning with a letter | give another --fleet",
    "--account: has another form | 12 | 12 digits | give another --account",
    "--region: has another form | Frankfurt | the name of an AWS region, such as eu-central-1 | give another --region",
  ],
});

rejectsLines("fleet deployer-policy --fleet shop --account 123456789012 --region eu-central-1", {
  "--boundary me": "--boundary: has another form | me | the ARN of an IAM policy, or empty | give another --boundary",
  "--boundary arn:aws:iam::123456789012:policy/shop-boundary":
    "--boundary: is a policy that the deployer itself creates and changes | arn:aws:iam::123456789012:policy/shop-boundary | a policy that somebody else maintains | ask the account's administrators to create one, and set it as permissionsBoundary of the stack too",
  "--grafana OIDC": "--grafana: has an unknown value | OIDC | AWS_SSO, SAML | choose one",
  "--secrets-key alias/shop-secrets":
    "--secrets-key: has another form | alias/shop-secrets | the ARN of a KMS key, which the hub's stack tells (pulumi stack output --json bridgeData | jq -r .secrets_kms_key_arn) | give another --secrets-key",
  "--secrets-key arn:aws:kms:eu-west-1:123456789012:key/1":
    "--secrets-key: is not a key of the hub's account and region | arn:aws:kms:eu-west-1:123456789012:key/1 | arn:aws:kms:eu-central-1:123456789012:key/<id> | correct --secrets-key, or --account and --region",
  "--out {file}": "--out: is not a folder | {file} | a folder, or a path at which nothing exists | correct the path",
});

rejectsLines("fleet facts --repository {system}", {
  "--bridge {nowhere} --stack dev": [
    "--bridge: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
    "--stack: is given beside --bridge, with which no stack is asked | dev | one of the two | leave one out",
  ],
  "--bridge {folder}": "--bridge: names a folder | {folder} | a file that you may read | correct the path",
  "--bridge {file}":
    "--bridge: is not what pulumi stack output --json bridgeData writes | (not shown) | a JSON object of strings | pulumi stack output --json bridgeData > bridge.json",
});

rejectsLines("fleet new-fleet --repository {system}", {
  Shop: "<fleet>: can't be the name of a fleet | Shop | lower-case letters, digits and hyphens, beginning with a letter, not hub: the name in the config of the hub's stack | correct the name",
  hub: "<fleet>: can't be the name of a fleet | hub | lower-case letters, digits and hyphens, beginning with a letter, not hub: the name in the config of the hub's stack | correct the name",
});

rejectsLines("fleet new-ring --repository {system}", {
  "Canary --soak 1d --max-unavailable many": [
    "<name>: has another form | Canary | 1 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends | choose another name; it is part of the branch's name and of objects' names",
    "--soak: has another form | 1d | hours, minutes and seconds such as 30m, 1h30m or 24h | write days as hours",
    "--max-unavailable: has another form | many | a number of spokes, or a share of them from 0% to 100% | write 2, or 10%",
  ],
  "canary --after none":
    "--after: is not a ring of the fleet fleet | none | (none) | choose one, or leave it out to make the last ring",
  "canary --fleet other": "--fleet: has no folder clusters/other | other | fleet | name one of them",
});

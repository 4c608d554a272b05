import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet new-cluster blue --environment dev --tenant payments --repository {system}", {
  "--nodes abc --nodes-min 1.5 --nodes-max 451": [
    "--nodes-min: is not a number of nodes | 1.5 | a whole number from 1 to 450 | change it",
    "--nodes: is not a number of nodes | abc | a whole number from 1 to 450 | change it",
    "--nodes-max: is not a number of nodes | 451 | a whole number from 1 to 450 | change it",
  ],
  "--nodes -1 --cidr 10.0.0.0": [
    "--nodes: is not a number of nodes | -1 | a whole number from 1 to 450 | change it",
    "--cidr: is not an IPv4 network | 10.0.0.0 | a.b.c.d/n with no bits set after the prefix, such as 10.64.0.0/18 | choose a free network, or leave --cidr out to get one of the fleet's pool",
  ],
  "--nodes 0 --cidr 10.64.0.1/18": [
    "--nodes: is not a number of nodes | 0 | a whole number from 1 to 450 | change it",
    "--cidr: is not an IPv4 network | 10.64.0.1/18 | a.b.c.d/n with no bits set after the prefix, such as 10.64.0.0/18 | choose a free network, or leave --cidr out to get one of the fleet's pool",
  ],
  "--nodes 3 --nodes-min 4":
    "--nodes-min, --nodes: do not fit each other | at least 4, 3 at first, at most 3 | --nodes-min at most --nodes, and --nodes at most --nodes-max | change one of them, or leave out --nodes",
  "--cidr 10.0.0.0/8":
    "--cidr: can't be divided into subnets | 10.0.0.0/8 | /16 to /24 | choose a free network, or leave --cidr out to get one of the fleet's pool",
  "--cidr 8.8.0.0/18":
    "--cidr: is not private | 8.8.0.0/18 | inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 | choose a free network, or leave --cidr out to get one of the fleet's pool",
  "--kubernetes-version 1.20":
    "--kubernetes-version: has an unknown value | 1.20 | 1.35, 1.36, 1.37 | choose one, or add it to platform/composition/composition.yaml first",
  "--region Frankfurt":
    '--region: the Spoke API does not accept it: must match pattern "^[a-z]{2}(-[a-z]+)+-[0-9]$" | Frankfurt | up to 32 characters of the form ^[a-z]{2}(-[a-z]+)+-[0-9]$ | change it; platform/api/definition.yaml describes every field',
  "--admin me":
    '--admin: the Spoke API does not accept it: must match pattern "^arn:aws[-a-z]*:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$" | me | up to 200 characters of the form ^arn:aws[-a-z]*:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$ | change it; platform/api/definition.yaml describes every field',
  "--public-access-cidr 0.0.0.0/0":
    "--public-access-cidr: is everybody | 0.0.0.0/0 | a.b.c.d/n of public addresses, with no bits set after the prefix; /32 is one address | name the public addresses that you and your pipelines connect from (curl https://checkip.amazonaws.com)",
  "--public-access-cidr 203.0.113.7/32":
    "--public-access-cidr: names addresses that EKS refuses on a public endpoint, reserved for documentation (RFC 5737) | 203.0.113.7/32 | a.b.c.d/n of public addresses, with no bits set after the prefix; /32 is one address | name the public addresses that you and your pipelines connect from (curl https://checkip.amazonaws.com)",
  "--sealing tenant":
    "--sealing: the Spoke API does not accept it: must be equal to one of the allowed values | tenant | environment, cluster | change it; platform/api/definition.yaml describes every field",
  "--deploy-keys mine": "--deploy-keys: has an unknown value | mine | fleet, own | choose one",
  "--git-receiver githab":
    "--git-receiver: the Spoke API does not accept it: must be equal to one of the allowed values | githab | github, gitlab, generic-hmac, generic | change it; platform/api/definition.yaml describes every field",
  "--known-hosts {nowhere}":
    "--known-hosts: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
  "--certificate {nowhere}":
    "--certificate: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
  "--certificate {file}":
    "--certificate: the file is not a certificate in PEM; the public certificate of the scope's sealing key is needed: pulumi stack output --json sealingCertificates | (not shown) | a valid RSA certificate in PEM | give the certificate of the scope's active sealing key",
});

rejectsLines(
  "fleet new-cluster blue --environment dev --tenant payments --repository {system} --certificate {certificate}",
  {
    "--fleet fleet": "--region: is not known | (nothing) | an AWS region | give --region",
    "--region eu-west-1 --fleet other":
      "--fleet: has no folders in this checkout | other | fleet | run fleet new-fleet other first, or name the fleet's stack or checkout (--stack, --repository)",
    "--region eu-west-1 --fleet fleet --ring canary":
      "--ring: has an unknown value | canary | (none) | choose one, or make it with fleet new-ring canary",
    "--region eu-west-1 --fleet fleet --sealing cluster":
      "--sealing: needs the outputs of the hub's stack, which name the generations of the spoke's own sealing key | --fleet and --certificate | a sealing key of scope cluster-blue in the hub's stack | leave out --fleet, and name the stack with --stack",
    "--region eu-west-1 --fleet fleet --cidr 10.70.0.0/20":
      "--cidr: overlaps 10.70.0.0/18 of spoke taken | 10.70.0.0/20 | a network that shares no address with the hub's or another spoke's | choose a free network, or leave --cidr out to get one of the fleet's pool",
  },
);

rejectsLines("fleet new-cluster --repository {system}", {
  "Blue --environment dve --tenant 123": [
    "<name>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Blue | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
    "--environment: has an unknown value | dve | dev, prod | did you mean dev? If not, choose one, or make it first: fleet add-environment",
    "--tenant: would be read as a number, a boolean or nothing in YAML | 123 | a text with a letter in it, and not true, false or null | choose another one",
  ],
  'hub --environment dev --tenant "No Team"': [
    "<name>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | hub | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
    '--tenant: the Spoke API does not accept it: must match pattern "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" | No Team | up to 63 characters of the form ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ | change it; platform/api/definition.yaml describes every field',
  ],
  "taken --environment dev --tenant payments":
    "<name>: already has a folder | {system}/spokes/fleet/taken | a name that no spoke of any fleet has | choose another name; to change an existing spoke, edit its spoke.yaml",
});

rejectsLines("fleet new-team --repository {system}", {
  "Payments --cluster nowhere --namespace kube-system --role arn:aws:iam::111111111111:role/a=owner": [
    "<team>: is not a name | Payments | at most 63 lower-case letters, digits and hyphens, not platform: what fleet onboard got as --tenant | correct the name",
    "--namespace: is a namespace of the platform | kube-system | whole names of applications' namespaces, none of flux-system, crossplane-system, spokes, sealed-secrets, external-secrets, fleet-releases, ack-dynamodb, ack-sqs, argocd, aws-load-balancer-controller, cert-manager, external-dns, karpenter, node-exporter, opencost, prometheus, kyverno, velero, default, and not kube-… | name the namespaces of the team's applications",
    "--role: is not a role with its access | arn:aws:iam::111111111111:role/a=owner | arn:aws:iam::<account>:role/<name>=<access>, with view, edit, admin; no user, and no session of a role (assumed-role) | write the role's ARN, an equals sign and the access",
    "--cluster: is not a spoke of fleet | nowhere | taken | correct the name, or make the spoke first: fleet new-cluster",
  ],
  "payments --cluster taken --namespace prometheus --role arn:aws:iam::111111111111:role/fleet-hub-crossplane=admin --workloads {folder}":
    [
      "--workloads: is not a checkout of gitops-workloads | {folder} | a clone of gitops-workloads, with its folder templates/app | correct the path, or leave --workloads out",
      "--namespace: is a namespace of the platform | prometheus | whole names of applications' namespaces, none of flux-system, crossplane-system, spokes, sealed-secrets, external-secrets, fleet-releases, ack-dynamodb, ack-sqs, argocd, aws-load-balancer-controller, cert-manager, external-dns, karpenter, node-exporter, opencost, prometheus, kyverno, velero, default, and not kube-… | name the namespaces of the team's applications",
      "--role: is a role of the fleet itself: of its controllers, its nodes or an application's pods | arn:aws:iam::111111111111:role/fleet-hub-crossplane=admin | roles that people assume | name the role of the team's members",
      "--cluster: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
    ],
  "payments --cluster taken --namespace payment-app --role arn:aws:iam::111111111111:user/a=edit": [
    "--role: is not a role with its access | arn:aws:iam::111111111111:user/a=edit | arn:aws:iam::<account>:role/<name>=<access>, with view, edit, admin; no user, and no session of a role (assumed-role) | write the role's ARN, an equals sign and the access",
    "--cluster: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
  ],
});

rejectsLines("fleet", {
  "protect takn --fleet other --repository {system}":
    "<spoke>: is not the name of a spoke in this checkout | takn | a folder in spokes/<fleet> with the spoke.yaml of a Spoke | did you mean taken? If not, correct the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
  "remove takn --workloads {system} --repository {system}": [
    "--yes: is missing: a cluster with everything on it does not come back | (nothing) | --yes, or --dry-run to see what would go | look at it with --dry-run, then give --yes",
    "--workloads: is not a checkout of gitops-workloads | {system} | a clone of gitops-workloads, with its folder templates/app | correct the path, or leave --workloads out",
    "<spoke>: is not the name of a spoke in this checkout | takn | a folder in spokes/<fleet> with the spoke.yaml of a Spoke | did you mean taken? If not, correct the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
  ],
  "renew-access --repository {system}":
    "--repository: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
  "scale taken --repository {system}": [
    "<spoke>: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
    "--nodes: is missing | (nothing) | --nodes, --nodes-min, --nodes-max or several of them, each with a number | give one of them. See fleet scale --help",
  ],
  "scale Taken --nodes 0 --nodes-max many --repository {system}": [
    "<spoke>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Taken | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
    "--nodes: is not a number of nodes | 0 | a whole number from 1 to 450 | change it",
    "--nodes-max: is not a number of nodes | many | a whole number from 1 to 450 | change it",
  ],
  "upgrade takn --to 1.99 --repository {system}": [
    "<spoke>: is not the name of a spoke in this checkout | takn | a folder in spokes/<fleet> with the spoke.yaml of a Spoke | did you mean taken? If not, correct the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
    "--to: has an unknown value | 1.99 | 1.35, 1.36, 1.37 | choose one, or add it to platform/composition/composition.yaml first",
  ],
});

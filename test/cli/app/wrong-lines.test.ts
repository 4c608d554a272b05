import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet offboard shop --repository {workloads}", {
  "--cluster blue": [
    "--cluster: has an unknown value | blue | (none) | name a cluster with a folder in clusters/",
    "--yes: is missing: what an application ordered in AWS does not come back | (nothing) | --yes, or --dry-run to see what would go | look at it with --dry-run, then give --yes",
  ],
  "--cluster blue --yes --system {workloads}": [
    "--system: is not a checkout of gitops-system | {workloads} | a folder with templates/fleet | name a clone of gitops-system, or leave it out to use the one beside the checkout of gitops-workloads",
    "--cluster: has an unknown value | blue | (none) | name a cluster with a folder in clusters/",
  ],
});

rejectsLines("fleet onboard shop --tenant payments --repository {workloads}", {
  "--repository-url git@host:shop.git --cluster blue --environment dev":
    "--repository-url: is not a URL that Flux clones from | git@host:shop.git | ssh://user@host/path.git (also for Git's short form user@host:path.git), or https://host/path.git without a credential | change it",
  "--repository-url https://token:x@host/shop.git --cluster blue --environment dev":
    "--repository-url: is not a URL that Flux clones from | https://***@host/shop.git | ssh://user@host/path.git (also for Git's short form user@host:path.git), or https://host/path.git without a credential | change it",
  "--repository-url shop.git --cluster Blue --cluster taken --cluster hub --environment dev": [
    "--cluster: is not the name of a spoke | Blue | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | change it",
    "--repository-url: is not a URL that Flux clones from | shop.git | ssh://user@host/path.git (also for Git's short form user@host:path.git), or https://host/path.git without a credential | change it",
    "--cluster: is not the name of a spoke | hub | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | change it",
  ],
  "--repository-url ssh://git@host/shop.git --cluster none --cluster taken --cluster nowhere": [
    "--cluster: has an unknown value | none | taken | correct it, pull the checkout of gitops-system if the spoke is new, or give --environment",
    "--cluster: has an unknown value | nowhere | taken | correct it, pull the checkout of gitops-system if the spoke is new, or give --environment",
  ],
  "--repository-url ssh://git@host/shop.git --cluster none --cluster taken --environment prod --fleet fleet --certificate {certificate} --known-hosts {file}":
    [
      "--cluster: is not a spoke of fleet in {system} | none | taken | correct the name, pull that checkout if the spoke is new, or make the spoke first: fleet new-cluster",
      "--environment: is not that of the spoke taken, so nothing that is sealed for it could be opened there | prod | dev, as {system}/spokes/fleet/taken/spoke.yaml says | leave --environment out, so that each Spoke says its own, or give another --cluster",
    ],
});

rejectsLines(
  "fleet onboard kube-system --cluster taken --tenant payments --repository {workloads} --repository-url ssh://git@host/shop.git",
  {
    "--environment dev":
      "<app>: can't be the name of an application: it is the name of its namespace | kube-system | at most 63 lower-case letters, digits and hyphens, none of flux-system, crossplane-system, spokes, sealed-secrets, external-secrets, fleet-releases, ack-dynamodb, ack-sqs, argocd, aws-load-balancer-controller, cert-manager, external-dns, karpenter, node-exporter, opencost, prometheus, kyverno, velero, default, and not kube-… | change it",
  },
);

rejectsLines(
  "fleet onboard shop --cluster blue --environment dev --tenant payments --repository {workloads} --repository-url ssh://git@host/shop.git",
  {
    "--path ../x --revision -x": [
      "--revision: is not a branch | -x | letters, digits and - . _ /, beginning with a letter or a digit | change it",
      "--path: is not a folder of the repository | ../x | a path from its root that begins with ./ and does not leave it, such as ./overlays/dev | change it",
    ],
    "--path /etc":
      "--path: is not a folder of the repository | /etc | a path from its root that begins with ./ and does not leave it, such as ./overlays/dev | change it",
    "--token-file {file}":
      "--token-file: does not fit an ssh:// URL | (given) | --known-hosts with ssh://; --token-file with --username, or --github-app-…, with https:// | leave it out, or change --repository-url",
    "--sealing tenant --git-receiver svn": [
      "--sealing: has an unknown value | tenant | environment, cluster | change it",
      "--git-receiver: has an unknown value | svn | github, gitlab, generic-hmac, generic | choose how the Git host signs its calls",
    ],
    "--commit-status svn": [
      "--commit-status: has an unknown value | svn | github, gitlab, gitea, bitbucketserver | choose the kind of the team's Git host",
      "--commit-status-token-file: is missing: Flux needs a token of the team for --commit-status | (nothing) | a file with one line, an access token | create one that may write the commit status of this repository only (docs/guides/notifications.md)",
    ],
    "--system {workloads}":
      "--system: is not a checkout of gitops-system | {workloads} | a folder with templates/fleet | name a clone of gitops-system, or leave it out to use the one beside the checkout of gitops-workloads",
    "--quota memory=8Gi --quota limits.memory=8GB": [
      "--quota: is not one of the limits in the template's ResourceQuota | memory=8Gi | NAME=QUANTITY, NAME of requests.cpu, limits.cpu, requests.memory, limits.memory, limits.ephemeral-storage, requests.storage, persistentvolumeclaims, pods, configmaps, secrets, services, services.loadbalancers, services.nodeports, count/cronjobs.batch, count/deployments.apps, count/ingresses.networking.k8s.io, count/jobs.batch, count/replicasets.apps, count/serviceaccounts, count/statefulsets.apps | change it, or leave it out for the template's",
      "--quota: is not a quantity of Kubernetes | limits.memory=8GB | limits.memory=QUANTITY, such as 4, 500m or 8Gi | change it, or leave it out for the template's",
    ],
    "--path ./ --auto-update shop:1.0 --auto-update-range ? --auto-update-token-file {file}": [
      "--auto-update: is not the name of an image without a tag | shop:1.0 | registry and repository, such as ghcr.io/acme/shop; for Docker Hub docker.io/acme/shop | write the registry's host, and leave tag and digest out",
      "--auto-update-range: is not a range of versions | ? | such as 1.x, or >=1.0.0-0 for pre-releases too | leave it out for >=0.0.0",
      "--path: is the whole repository, to which --auto-update would commit | ./ | the overlay of this environment, such as ./overlays/dev | give the team's repository an overlay for each environment",
      "--auto-update-token-file: does not fit an ssh:// URL, for which a deploy key is made | (given) | an https:// URL | leave it out, or change --repository-url",
    ],
    "--aws-engine terraform":
      "--aws-engine: has an unknown value | terraform | crossplane, ack | leave it out for crossplane",
    "--aws-engine ack --aws-kind s3.Bucket":
      "--aws-engine: is ack, which makes none of the kinds that the application may order | --aws-kind s3.Bucket | ack beside dynamodb.Table or sqs.Queue | leave --aws-engine out, or give one of these kinds too",
  },
);

rejectsLines(
  "fleet onboard shop --cluster blue --environment dev --tenant payments --repository {workloads} --repository-url https://host/shop.git",
  {
    "--username x":
      "--token-file: is missing: over https:// Flux needs a token or a GitHub App of the team | (nothing) | a file with an access token, or the three of --github-app-… | create one that may read this repository only, or use an ssh:// URL, for which the command makes a deploy key",
    "--github-app-id x": [
      "--github-app-installation-id: is missing for a GitHub App | (nothing) | all three of --github-app-… | see the settings of the app at GitHub",
      "--github-app-key-file: is missing for a GitHub App | (nothing) | all three of --github-app-… | see the settings of the app at GitHub",
      "--github-app-id: is not a number | x | the number that GitHub shows | see the settings of the app at GitHub",
    ],
    "--token-file {nowhere} --ca-file {nowhere}": [
      "--ca-file: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
      "--token-file: names a file that does not exist | (not shown: it may be the token) | a file that you may read | correct the path",
    ],
  },
);

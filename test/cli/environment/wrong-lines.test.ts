import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet add-environment", {
  "staging --like stage --repository {system}": "--like: has an unknown value | stage | dev, prod | choose one",
  "Staging --like dev --repository {system}":
    '<name>: the Spoke API does not accept it: must match pattern "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" | Staging | up to 40 characters of the form ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ | change it; platform/api/definition.yaml describes every field',
  "cluster-blue --like dev --repository {system}":
    "<name>: is a name for the sealing scope of a single cluster | cluster-blue | a name that does not begin with cluster-, and none of base, store | choose another name",
  "base --like dve --repository {system}": [
    "<name>: is the name of a folder that all environments share | base | a name that does not begin with cluster-, and none of base, store | choose another name",
    "--like: has an unknown value | dve | dev, prod | did you mean dev? If not, choose one",
  ],
  "123 --like dev --repository {system}":
    "<name>: would be read as a number, a boolean or nothing in YAML | 123 | a text with a letter in it, and not true, false or null | choose another one",
});

rejectsLines("fleet promote", {
  "--from dve --to staging --repository {system}": [
    "--from: has an unknown value | dve | dev, prod | did you mean dev? If not, choose one, or make it first: fleet add-environment",
    "--to: has an unknown value | staging | dev, prod | choose one, or make it first: fleet add-environment",
  ],
  "--from dev --to dev --repository {system}":
    "--to: is the environment that it comes from | dev | prod | name another one",
  "--from dev --to prod --only kyvern --except Composition --repository {system}": [
    "--only: has an unknown value | kyvern | ack_dynamodb, ack_sqs, argocd, aws_load_balancer_controller, cert_manager, composition, crossplane, external_dns, image_automation, karpenter, kube_state_metrics, kyverno, metrics_server, node_exporter, opencost, prometheus, provider_aws, sigv4_proxy, velero, velero_plugin_for_aws | did you mean kyverno? If not, choose one",
    "--except: has an unknown value | Composition | ack_dynamodb, ack_sqs, argocd, aws_load_balancer_controller, cert_manager, composition, crossplane, external_dns, image_automation, karpenter, kube_state_metrics, kyverno, metrics_server, node_exporter, opencost, prometheus, provider_aws, sigv4_proxy, velero, velero_plugin_for_aws | did you mean composition? If not, choose one",
  ],
});

import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { group } from "../lib/labels.ts";
import { spokeApi } from "../lib/spoke.ts";

export interface SpokeGuardArgs {
  /** The Kustomization that must stay while a spoke exists. */
  readonly namespace: string;
  readonly kustomizationName: string;
}

/**
 * Refuses to delete the hub's root Kustomization while a Spoke exists: without it nobody would remove the spoke's cluster.
 *
 * The Spokes are the policy's parameters: the API server evaluates it once for each, and each evaluation refuses.
 * No Spoke means no parameter, which is allowed. While the Spoke API is not installed the parameters can't be read, an error
 * that `failurePolicy: Ignore` lets pass; a refusal is no error, so it stands. The API server finds a new API within seconds.
 */
export class SpokeGuard extends pulumi.ComponentResource {
  constructor(name: string, args: SpokeGuardArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:SpokeGuard", name, {}, opts);
    const metadata = { name: `spoke-guard.${group}` };
    const policy = new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
      `${name}-policy`,
      {
        metadata,
        spec: {
          failurePolicy: "Ignore",
          paramKind: { apiVersion: spokeApi.apiVersion, kind: spokeApi.kind },
          matchConstraints: {
            namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": args.namespace } },
            resourceRules: [
              {
                apiGroups: ["kustomize.toolkit.fluxcd.io"],
                apiVersions: ["*"],
                operations: ["DELETE"],
                resources: ["kustomizations"],
                resourceNames: [args.kustomizationName],
              },
            ],
          },
          validations: [
            {
              expression: "false",
              reason: "Forbidden",
              messageExpression: [
                "'the hub still runs spoke ' + params.metadata.name",
                `'; remove spokes through Git first and wait until they are gone (kubectl get spokes -n ${spokeApi.namespace}),'`,
                "' or nobody would delete their clusters'",
              ].join(" + "),
            },
          ],
        },
      },
      { parent: this },
    );
    new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
      `${name}-binding`,
      {
        metadata,
        spec: {
          policyName: policy.metadata.name,
          validationActions: ["Deny"],
          paramRef: { namespace: spokeApi.namespace, selector: {}, parameterNotFoundAction: "Allow" },
        },
      },
      { parent: this },
    );
    this.registerOutputs({});
  }
}

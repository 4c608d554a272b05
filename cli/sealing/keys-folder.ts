import { stringify } from "yaml";
import { type Problem, shown } from "../../lib/problems.ts";
import { type FleetFacts, keyRemedy, scopesOf } from "../fleet/facts.ts";
import type { Files } from "../folder.ts";
import { variable } from "../render/envsubst.ts";

/** Name of the file of a generation in a scope's folder. */
export const generationFile = (generation: string): string => `generation-${generation}.yaml`;

/** The ExternalSecret that copies a generation of a key from Secrets Manager to the spoke; Flux substitutes the variables. */
function externalSecret(generation: string): object {
  // Sealed Secrets takes up a key from a new Secret, not from a changed one (v0.40.0, pkg/controller/controller.go, watchKeySecrets):
  // a spoke that leaves its environment's scope needs another name than the environment's.
  const scope = variable("sealing_scope");
  const name = `sealing-key-${scope}-${generation}`;
  return {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name, namespace: variable("external_secrets_namespace") },
    spec: {
      refreshInterval: "1h0m0s",
      secretStoreRef: { kind: "SecretStore", name: "aws-secrets-manager" },
      target: {
        name,
        creationPolicy: "Owner",
        deletionPolicy: "Retain",
        template: {
          type: "kubernetes.io/tls",
          metadata: { labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" } },
        },
      },
      dataFrom: [{ extract: { key: `${variable("fleet")}/sealing-keys/${scope}/${generation}` } }],
    },
  };
}

const comment = `# Generations of the spoke's own sealing key, which only it reads (sealing: cluster). fleet sealing-keys adds the file of a new one;
# the youngest certificate seals, the older ones still open what they sealed.
`;

/** Files of the folder `sealing-keys` of a spoke with sealing keys of its own, one for each generation. */
export function keyFiles(generations: readonly string[]): Files {
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../../../../spoke-bootstrap/sealing-keys/store", ...generations.map(generationFile)],
  };
  return {
    "kustomization.yaml": `${comment}${stringify(kustomization, { lineWidth: 0 })}`,
    ...Object.fromEntries(
      generations.map((generation) => [
        generationFile(generation),
        stringify(externalSecret(generation), { lineWidth: 0, aliasDuplicateObjects: false }),
      ]),
    ),
  };
}

/** The problems of a sealing scope of a spoke's own, by the keys that the fleet has; `key` is the flag or argument that requests it. */
export function ownKeyProblems(key: string, scope: string, fleet: FleetFacts): Problem[] {
  const allowed = `a sealing key of scope ${scope} in the hub's stack`;
  if (fleet.generations === undefined)
    return [
      {
        key,
        what: "needs the outputs of the hub's stack, which name the generations of the spoke's own sealing key",
        got: "--fleet and --certificate",
        allowed,
        remedy: "leave out --fleet, and name the stack with --stack",
      },
    ];
  if (fleet.generations[scope] !== undefined && scopesOf(fleet)?.includes(scope) !== false) return [];
  return [
    {
      key,
      what: "needs a sealing key of the spoke's own, which the fleet does not have",
      got: shown(Object.keys(fleet.generations)),
      allowed,
      remedy: keyRemedy(scope),
    },
  ];
}

/** The ValidatingAdmissionPolicies of the platform as Kyverno's ValidatingPolicies: one source, the same expressions. */

/** Parts of a ValidatingAdmissionPolicy that Kyverno takes over as they are. */
export interface AdmissionPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy: string;
    readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
    readonly matchConstraints: object;
    readonly matchConditions?: readonly object[];
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly object[];
  };
}

export interface AdmissionPolicyBinding {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyName: string;
    readonly validationActions: readonly string[];
    readonly paramRef?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly parameterNotFoundAction?: string;
    };
  };
}

/** A variable of this expression is the only place where a policy reads its parameters. */
const parameters = "params.data";

/** How Kyverno, which has no parameters, reads the ConfigMap that the binding names. */
function lookup({ metadata, spec }: AdmissionPolicyBinding): string {
  const { name, namespace } = spec.paramRef ?? {};
  if (!name || !namespace)
    throw new RangeError(`the binding ${metadata.name} must name its parameters by name and namespace`);
  return `resource.Get('v1', 'configmaps', '${namespace}', '${name}').data`;
}

/**
 * The ValidatingPolicy (policies.kyverno.io/v1) that judges as the admission policy does under its binding.
 * Without its parameters it denies whatever it matches by its conditions: the lookup is an error, and errors deny.
 * @throws RangeError for what Kyverno's kind can't say: parameters other than one ConfigMap, or used in another place.
 */
export function kyvernoPolicy(policy: AdmissionPolicy, binding: AdmissionPolicyBinding): object {
  const { metadata, spec } = policy;
  const { paramKind, variables = [], ...rest } = spec;
  if (binding.spec.policyName !== metadata.name)
    throw new RangeError(`the binding ${binding.metadata.name} is not one of ${metadata.name}`);
  if (paramKind && (paramKind.apiVersion !== "v1" || paramKind.kind !== "ConfigMap"))
    throw new RangeError(`${metadata.name}: the parameters must be a ConfigMap, got ${paramKind.kind}`);
  const others = { ...rest, variables: variables.filter(({ expression }) => expression !== parameters) };
  if (/\bparams\b/.test(JSON.stringify(others)))
    throw new RangeError(
      `${metadata.name}: parameters may only be read by a variable whose expression is ${parameters}`,
    );
  const read = ({ name, expression }: { name: string; expression: string }) => ({
    name,
    expression: expression === parameters ? lookup(binding) : expression,
  });
  return {
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name: metadata.name },
    spec: {
      failurePolicy: rest.failurePolicy,
      validationActions: binding.spec.validationActions,
      // The conditions ask what a request changes; a scan of what is there has no request.
      evaluation: { background: { enabled: false } },
      matchConstraints: rest.matchConstraints,
      ...(rest.matchConditions ? { matchConditions: rest.matchConditions } : {}),
      ...(variables.length > 0 ? { variables: variables.map(read) } : {}),
      validations: rest.validations,
    },
  };
}

/** The Kyverno set, made of all admission policies and bindings among `objects`. @throws RangeError as {@link kyvernoPolicy} */
export function kyvernoSet(objects: readonly { readonly kind: string }[]): object[] {
  const ofKind = <T>(kind: string) => objects.filter((object) => object.kind === kind) as unknown as T[];
  const bindings = ofKind<AdmissionPolicyBinding>("ValidatingAdmissionPolicyBinding");
  return ofKind<AdmissionPolicy>("ValidatingAdmissionPolicy").map((policy) => {
    const binding = bindings.find(({ spec }) => spec.policyName === policy.metadata.name);
    if (!binding) throw new RangeError(`${policy.metadata.name} has no binding`);
    return kyvernoPolicy(policy, binding);
  });
}

/** Patches in a Flux Kustomization's specification (`spec.patches`). */

/** What a patch changes; all that is given must fit. */
interface Target {
  readonly kind?: string;
  readonly name?: string;
  readonly labelSelector?: string;
}

/** All objects with the labels. */
export const labelled = (labels: Readonly<Record<string, string>>): Target => ({
  labelSelector: Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(","),
});

/** A patch by JSON operations (RFC 6902). */
export const patchOf = (target: Target, ...operations: readonly object[]): object => ({
  target,
  patch: JSON.stringify(operations),
});

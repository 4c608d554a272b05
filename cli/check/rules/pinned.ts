import { isObject, type Path } from "../../render/files.ts";
import type { Findings } from "../../render/findings.ts";
import { allObjects, isHelmRelease, type Rendered, type RenderedFleet } from "../../render/fleet.ts";

/** Images, packages and charts have one exact version. */

/** `1.2.3`, `v1.2.3-rc.1+build`: no range, no wildcard, no partial version. */
const exactVersion = /^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

interface Image {
  readonly path: Path;
  readonly reference: string;
}

/** Images of containers anywhere in an object. */
export function images(value: unknown, path: Path = []): Image[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => images(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    const isContainers = ["containers", "initContainers", "ephemeralContainers"].includes(key) && Array.isArray(inner);
    const own = isContainers
      ? inner.flatMap((container, index) =>
          isObject(container) && typeof container["image"] === "string"
            ? [{ path: [...at, index, "image"], reference: container["image"] }]
            : [],
        )
      : [];
    return [...own, ...images(inner, at)];
  });
}

function packages({ manifest: { apiVersion, spec } }: Rendered): Image[] {
  return apiVersion.startsWith("pkg.crossplane.io/") && typeof spec?.package === "string"
    ? [{ path: ["spec", "package"], reference: spec.package }]
    : [];
}

/** Why an image's reference is not pinned; undefined when it is. */
export function unpinned(reference: string): string | undefined {
  if (/@sha256:[0-9a-f]{64}$/.test(reference)) return undefined;
  const tag = /:([^:/@]+)$/.exec(reference)?.[1];
  if (tag === undefined) return "has neither a tag nor a digest";
  return ["latest", "stable", "main", "master", "edge", "nightly"].includes(tag)
    ? `has the moving tag ${tag}`
    : undefined;
}

/** Settings of a chart that name an image by a moving tag. */
function movingTags(value: unknown, path: Path): Image[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => movingTags(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    return key === "tag" && typeof inner === "string" && unpinned(`image:${inner}`)
      ? [{ path: at, reference: inner }]
      : movingTags(inner, at);
  });
}

function checkChart({ manifest, raw, by, place }: Rendered, findings: Findings): void {
  const chart = manifest.spec?.chart?.spec;
  if (chart) {
    const { version } = chart;
    const got = version === undefined ? "no version" : `version ${JSON.stringify(version)}`;
    if (typeof version !== "string" || !exactVersion.test(version))
      findings.add(
        "pinned",
        place(["spec", "chart", "spec", version === undefined ? "chart" : "version"]),
        `HelmRelease ${raw.metadata.name}: the chart ${chart.chart} is not pinned, got ${got}`,
        "give spec.chart.spec.version one exact version, such as 1.2.3",
        by.on.name,
        "chart",
      );
  }
  for (const { path, reference } of movingTags(manifest.spec?.values, ["spec", "values"]))
    findings.add(
      "pinned",
      place(path),
      `HelmRelease ${raw.metadata.name}: ${path.slice(2).join(".")} is the moving tag ${reference}`,
      "name the tag of one release, or a digest",
      by.on.name,
    );
}

function checkArtifact({ manifest: { spec }, raw, by, place }: Rendered, findings: Findings): void {
  const { tag, digest, semver } = spec?.ref ?? {};
  const isPinned =
    digest !== undefined ||
    (semver !== undefined ? exactVersion.test(semver) : tag !== undefined && !unpinned(`x:${tag}`));
  if (!isPinned)
    findings.add(
      "pinned",
      place(["spec", "ref"]),
      `OCIRepository ${raw.metadata.name} is not pinned, got ${JSON.stringify(spec?.ref ?? {})}`,
      "give spec.ref a digest, or the tag of one release",
      by.on.name,
    );
}

export function checkPinned(fleet: RenderedFleet, findings: Findings): void {
  for (const object of allObjects(fleet)) {
    const { manifest, raw, by, place } = object;
    for (const { path, reference } of [...images(manifest.spec, ["spec"]), ...packages(object)]) {
      const why = unpinned(reference);
      if (why)
        findings.add(
          "pinned",
          place(path),
          `${manifest.kind} ${raw.metadata.name}: ${reference} ${why}`,
          "name the tag of one release, or a digest",
          by.on.name,
          path.join("."),
        );
    }
    if (isHelmRelease(manifest)) checkChart(object, findings);
    if (manifest.kind === "OCIRepository" && manifest.apiVersion.startsWith("source.toolkit.fluxcd.io/"))
      checkArtifact(object, findings);
  }
}

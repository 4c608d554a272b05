import { stringify } from "yaml";

/** What the chart takes from one controller's module: its config/ folder, read as YAML. */
export interface ControllerSource {
  /** Name of the controller's values in the chart, such as `sourceController`. */
  readonly key: string;
  /** Name of its Deployment, service account and image, such as `source-controller`. */
  readonly name: string;
  /** Image tag. */
  readonly tag: string;
  /** config/manager: a Deployment and its Services. */
  readonly manager: readonly Manifest[];
  /** config/crd/bases: text by file name. */
  readonly crds: Readonly<Record<string, string>>;
}

/** A Kubernetes object, or a kustomization beside one. */
export interface Manifest {
  readonly kind: string;
}

/**
 * The files of the chart that come from the controllers; its templates read them.
 * - files/controllers.yaml: by values key, the Deployment and Services.
 * - files/crds/<controller>/: the CRDs.
 * @throws if a module's config/ isn't of the expected form.
 */
export function fluxChartFiles(sources: readonly ControllerSource[]): Record<string, string> {
  const controllers: Record<string, unknown> = {};
  const files: Record<string, string> = {};
  for (const { key, name, tag, manager, crds } of sources) {
    const deployments = manager.filter((object) => object.kind === "Deployment");
    if (deployments.length !== 1)
      throw new Error(`${name}: ${deployments.length} Deployments in config/manager, not 1`);
    if (Object.keys(crds).length === 0) throw new Error(`${name}: no CRDs in config/crd/bases`);
    const services = manager.filter((object) => object.kind === "Service");
    controllers[key] = { name, tag, deployment: deployments[0], services };
    for (const [file, text] of Object.entries(crds)) files[`files/crds/${name}/${file}`] = text;
  }
  files["files/controllers.yaml"] = stringify(controllers);
  return files;
}

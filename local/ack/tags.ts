/** The tags that ACK puts on whatever it makes (aws-controllers-k8s/runtime v0.62.0, pkg/runtime/tags.go, pkg/tags). */
import type { Tags } from "../aws/properties.ts";
import type { AckObject } from "./object.ts";

/** What a tag's value may stand for. */
const formats: Readonly<Record<string, (object: AckObject, service: string, version: string) => string>> = {
  "%CONTROLLER_SERVICE%": (_object, service) => service,
  "%CONTROLLER_VERSION%": (_object, _service, version) => version,
  "%K8S_NAMESPACE%": ({ metadata }) => metadata.namespace,
  "%K8S_RESOURCE_NAME%": ({ metadata }) => metadata.name,
  "%K8S_RESOURCE_KIND%": ({ kind }) => kind,
  "%MANAGED_BY%": ({ metadata }) => metadata.labels?.["app.kubernetes.io/managed-by"] ?? "",
  "%KRO_VERSION%": ({ metadata }) => metadata.labels?.["kro.run/kro-version"] ?? "",
};

/** @param wanted `key=value`, as the flag --resource-tags has them; tags with an empty value fall away */
export function controllerTags(wanted: readonly string[], object: AckObject, service: string, version: string): Tags {
  const tags = wanted.map((each) => {
    const [key = "", value = ""] = each.split("=").map((part) => part.trim());
    const filled = Object.entries(formats).reduce(
      (text, [format, of]) => text.replaceAll(format, of(object, service, version)),
      value,
    );
    return [key, filled] as const;
  });
  return Object.fromEntries(tags.filter(([key, value]) => key !== "" && value !== ""));
}

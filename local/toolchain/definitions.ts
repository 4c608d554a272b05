import { join } from "node:path";
import { moduleDir } from "./go.ts";

/** Where the Go modules of the pinned versions keep what API servers know of their kinds: CustomResourceDefinitions, and Kubernetes' OpenAPI. */
const folders = {
  "github.com/fluxcd/image-automation-controller": "config/crd/bases",
  "github.com/fluxcd/image-reflector-controller": "config/crd/bases",
  "github.com/fluxcd/kustomize-controller": "config/crd/bases",
  "github.com/fluxcd/helm-controller": "config/crd/bases",
  "github.com/fluxcd/notification-controller": "config/crd/bases",
  "github.com/fluxcd/source-controller": "config/crd/bases",
  "github.com/fluxcd/source-watcher/v2": "config/crd/bases",
  "github.com/external-secrets/external-secrets": "config/crds/bases",
  "github.com/bitnami/sealed-secrets": "helm/sealed-secrets/crds",
  "github.com/crossplane/crossplane/v2": "cluster/crds",
  "k8s.io/kubernetes": "api/openapi-spec/v3",
} as const;

export type DefiningModule = keyof typeof folders;

export const definingModules = Object.keys(folders) as readonly DefiningModule[];

/** The folder with a module's definitions of the pinned version; a module that is not there yet is downloaded. */
export const definitionFolder = (module: DefiningModule): string => join(moduleDir(module), folders[module]);

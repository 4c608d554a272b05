import { argocdIdentity } from "../lib/argocd.ts";
import { isPlatformNamespace } from "../lib/names.ts";
import type { Problem } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

function argocdRule({ argocdClusterSecret, argocdRoleArn }: Readable): Problem[] {
  if (argocdClusterSecret !== false || !argocdRoleArn) return [];
  return [
    {
      key: "argocdRoleArn",
      what: "has no effect without an Argo CD cluster secret",
      got: argocdRoleArn,
      allowed: "empty, or argocdClusterSecret true",
      remedy: "pulumi config set argocdClusterSecret true, or remove argocdRoleArn",
    },
  ];
}

/** The Kubernetes provider makes no namespace that is there already; nothing else makes the default one on the hub. */
function argocdNamespaceRule({ argocdClusterSecret, argocdNamespace = "" }: Readable): Problem[] {
  if (!argocdClusterSecret || argocdNamespace === argocdIdentity || !isPlatformNamespace(argocdNamespace)) return [];
  return [
    {
      key: "argocdNamespace",
      what: "is a namespace of the platform or of Kubernetes, and Argo CD's is made for it alone",
      got: argocdNamespace,
      allowed: "a name that no namespace on the hub has yet",
      remedy: "pulumi config rm argocdNamespace, for the default argocd",
    },
  ];
}

function argocdSpokesRule({ argocdClusterSecret, argocdSpokes }: Readable): Problem[] {
  if (!argocdSpokes || argocdClusterSecret !== false) return [];
  return [
    {
      key: "argocdSpokes",
      what: "needs the Argo CD cluster secret of the hub, whose namespace it shares",
      got: "true",
      allowed: "false, or true with argocdClusterSecret true",
      remedy: "pulumi config set argocdClusterSecret true, or pulumi config rm argocdSpokes",
    },
  ];
}

/** Rules over the keys of Argo CD. */
export const argocdRules = (settings: Readable): Problem[] => [
  ...argocdRule(settings),
  ...argocdNamespaceRule(settings),
  ...argocdSpokesRule(settings),
];

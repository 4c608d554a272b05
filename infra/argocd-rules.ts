import { argocdIdentity } from "../lib/argocd.ts";
import { isPlatformNamespace } from "../lib/names.ts";
import type { Problem } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

function argocdRoleRule({ argocdClusterSecret, argocdHubAdmin, argocdRoleArn, argocdSpokes }: Readable): Problem[] {
  const role = { key: "argocdRoleArn", got: argocdRoleArn ?? "" } as const;
  if (!argocdRoleArn) return [];
  if (argocdClusterSecret === false)
    return [
      {
        ...role,
        what: "has no effect without an Argo CD cluster secret",
        allowed: "empty, or argocdClusterSecret true",
        remedy: "pulumi config set argocdClusterSecret true, or remove argocdRoleArn",
      },
    ];
  if (argocdSpokes !== false || argocdHubAdmin !== false) return [];
  return [
    {
      ...role,
      what: "names a role that would have access to no cluster",
      allowed: "empty, or with argocdSpokes true, argocdHubAdmin true, or both",
      remedy:
        "pulumi config set argocdSpokes true, for the spokes; pulumi config set argocdHubAdmin true, to make the role an administrator of the hub; or remove argocdRoleArn",
    },
  ];
}

function argocdHubAdminRule({ argocdHubAdmin, argocdRoleArn }: Readable): Problem[] {
  if (!argocdHubAdmin || argocdRoleArn !== "") return [];
  return [
    {
      key: "argocdHubAdmin",
      what: "names no role to make an administrator of the hub",
      got: "true",
      allowed: "false, or true with argocdRoleArn",
      remedy: "set argocdRoleArn to the role of an Argo CD outside the hub, or pulumi config rm argocdHubAdmin",
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
  ...argocdRoleRule(settings),
  ...argocdHubAdminRule(settings),
  ...argocdNamespaceRule(settings),
  ...argocdSpokesRule(settings),
];

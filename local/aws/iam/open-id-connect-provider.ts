import * as sdk from "@aws-sdk/client-iam";
import type { Aws } from "../connection.ts";
import { fixed, out } from "../define/fields.ts";
import { define, pairTags } from "../define/resource.ts";
import { api } from "./common.ts";

const withScheme = (url: unknown): string => `https://${String(url).replace("https://", "")}`;

async function provider(aws: Aws, OpenIDConnectProviderArn: string) {
  const found = await api(aws).send(new sdk.GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
  return { ...found, Arn: OpenIDConnectProviderArn };
}

export const openIdConnectProvider = define({
  token: "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
  regional: false,
  crossplane: { kind: "iam/OpenIDConnectProvider" },
  tags: pairTags(
    (aws, id, Tags) => api(aws).send(new sdk.TagOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id, Tags })),
    (aws, id, TagKeys) =>
      api(aws).send(new sdk.UntagOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id, TagKeys })),
  ),
  fields: {
    // AWS returns the URL without its scheme.
    url: { fixed, required: true, same: (a, b) => withScheme(a) === withScheme(b) },
    clientIdLists: { type: "set", api: "ClientIDList", crd: "clientIdList", required: true },
    thumbprintLists: out("ThumbprintList", { type: "strings", crd: "thumbprintList" }),
    arn: out(),
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.CreateOpenIDConnectProviderCommand(request as never))).OpenIDConnectProviderArn,
  find: provider,
  settings: [
    {
      fields: ["clientIdLists"],
      async call(aws, OpenIDConnectProviderArn, { clientIdLists: now = [] }, { old: { clientIdLists: before = [] } }) {
        const of = { OpenIDConnectProviderArn };
        for (const ClientID of now.filter((id) => !before.includes(id)))
          await api(aws).send(new sdk.AddClientIDToOpenIDConnectProviderCommand({ ...of, ClientID }));
        for (const ClientID of before.filter((id) => !now.includes(id)))
          await api(aws).send(new sdk.RemoveClientIDFromOpenIDConnectProviderCommand({ ...of, ClientID }));
      },
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id })),
});

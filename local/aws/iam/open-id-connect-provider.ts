import {
  AddClientIDToOpenIDConnectProviderCommand,
  CreateOpenIDConnectProviderCommand,
  DeleteOpenIDConnectProviderCommand,
  GetOpenIDConnectProviderCommand,
  RemoveClientIDFromOpenIDConnectProviderCommand,
  TagOpenIDConnectProviderCommand,
  UntagOpenIDConnectProviderCommand,
  UpdateOpenIDConnectProviderThumbprintCommand,
} from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { resource, type Tagged } from "../handler.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";
import { iamTags } from "./tags.ts";

interface Inputs extends Tagged {
  url: string;
  clientIdLists: string[];
  thumbprintLists?: string[];
}

const withScheme = (url: string): string => (url.startsWith("https://") ? url : `https://${url}`);

async function syncClients(aws: Aws, arn: string, olds: string[], news: string[]): Promise<void> {
  const provider = { OpenIDConnectProviderArn: arn };
  for (const ClientID of news.filter((id) => !olds.includes(id)))
    await aws.iam.send(new AddClientIDToOpenIDConnectProviderCommand({ ...provider, ClientID }));
  for (const ClientID of olds.filter((id) => !news.includes(id)))
    await aws.iam.send(new RemoveClientIDFromOpenIDConnectProviderCommand({ ...provider, ClientID }));
}

export const openIdConnectProvider = resource<Inputs>({
  token: "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
  regional: false,
  tagged: true,
  inputs: ["url", "clientIdLists", "thumbprintLists"],
  computed: ["thumbprintLists"],
  replaceOn: ["url"],
  sets: ["clientIdLists"],
  // AWS returns the URL without its scheme.
  compare: { url: (a, b) => withScheme(String(a)) === withScheme(String(b)) },

  async create(aws, inputs) {
    const { OpenIDConnectProviderArn } = await aws.iam.send(
      new CreateOpenIDConnectProviderCommand({
        Url: inputs.url,
        ClientIDList: inputs.clientIdLists,
        ThumbprintList: inputs.thumbprintLists,
        ...iamTags(inputs.tagsAll),
      }),
    );
    return OpenIDConnectProviderArn as string;
  },

  async read(aws, id) {
    const actual = await orGone(aws.iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id })));
    if (!actual) return null;
    return {
      arn: id,
      clientIdLists: actual.ClientIDList,
      thumbprintLists: actual.ThumbprintList,
      url: actual.Url,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    const provider = { OpenIDConnectProviderArn: id };
    if (change.has("clientIdLists")) await syncClients(aws, id, change.old.clientIdLists, change.new.clientIdLists);
    if (change.has("thumbprintLists"))
      await aws.iam.send(
        new UpdateOpenIDConnectProviderThumbprintCommand({ ...provider, ThumbprintList: change.new.thumbprintLists }),
      );
    await syncTags(
      change,
      (tags) => aws.iam.send(new TagOpenIDConnectProviderCommand({ ...provider, Tags: tagPairs(tags) })),
      (keys) => aws.iam.send(new UntagOpenIDConnectProviderCommand({ ...provider, TagKeys: keys })),
    );
  },

  async delete(aws, id) {
    await orGone(aws.iam.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id })));
  },
});

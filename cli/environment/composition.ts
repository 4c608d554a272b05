import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { group } from "../../lib/labels.ts";

/** What the Composition in a checkout of gitops-system says of environments. */

/** From the top of the checkout. */
export const compositionFile = "platform/composition/composition.yaml";

export const channelPrefix = `channel.${group}/`;
/** Label of the Composition that lets an environment's spokes take it. */
export const channelOf = (environment: string): string => channelPrefix + environment;

/** The branches that an environment follows instead of what the hub does (functions/spoke/settings.ts). */
interface Stage {
  readonly gitopsSystemRevision?: string;
  readonly gitopsWorkloadsRevision?: string;
}

/** The Composition, opened to be changed: comments and order stay. */
export interface OpenComposition {
  readonly document: Document;
  /** The value of an environment's channel; undefined where it has none. */
  readonly channel: (environment: string) => string | undefined;
  readonly stage: (environment: string) => Stage | undefined;
}

export function openComposition(checkout: string): OpenComposition {
  const document = parseDocument(readFileSync(join(checkout, compositionFile), "utf8")) as Document;
  const { metadata, spec } = document.toJS();
  const stages: Readonly<Record<string, Stage>> = spec.pipeline[0].input.stages ?? {};
  return {
    document,
    channel: (environment) => metadata.labels?.[channelOf(environment)],
    stage: (environment) => stages[environment],
  };
}

/** The text of the Composition once an environment's spokes take it. */
export function withChannelOn({ document }: OpenComposition, environment: string): string {
  document.setIn(["metadata", "labels", channelOf(environment)], "true");
  return document.toString({ lineWidth: 0 });
}

import type { Tags } from "../handler.ts";
import { tagPairs } from "../tags.ts";

/** Tags at creation; nothing when there are none. */
export const iamTags = (tags: Tags | undefined) =>
  tags && Object.keys(tags).length > 0 ? { Tags: tagPairs(tags) } : {};

/** Properties of a resource in the camelCase shape of its Terraform schema. */
export type Properties = Record<string, unknown>;

export type Tags = Record<string, string>;

/** Inputs of a taggable resource as a handler gets them: `tagsAll` holds its tags and the provider's default tags. */
export interface Tagged {
  readonly tagsAll?: Tags;
}

/** Drives a handler as an adapter does: with defaults, the provider's default tags, and the last state. */
import {
  type Aws,
  attempt,
  changeOf,
  differenceOf,
  type Handler,
  handlerInputs,
  handlers,
  type Properties,
  stateOf,
  type Tags,
  withDefaults,
} from "../../aws/index.ts";

export interface Existing {
  readonly id: string;
  readonly inputs: Properties;
  readonly state: Properties;
}

export class HandlerRunner {
  readonly aws: Aws;
  readonly defaultTags: Tags;

  constructor(aws: Aws, defaultTags: Tags) {
    this.aws = aws;
    this.defaultTags = defaultTags;
  }

  handler(token: string): Handler {
    const found = handlers.get(token);
    if (!found) throw new Error(`no handler for ${token}`);
    return found;
  }

  async create(token: string, given: Properties): Promise<Existing> {
    const handler = this.handler(token);
    const inputs = withDefaults(handler, given);
    const id = await attempt("create", handler, "case", () =>
      handler.create(this.aws, handlerInputs(handler, inputs, this.defaultTags)),
    );
    return { id, inputs, state: (await this.read(token, id, inputs)) as Properties };
  }

  async read(token: string, id: string, last: Properties): Promise<Properties | null> {
    const handler = this.handler(token);
    const actual = await attempt("read", handler, id, () => handler.read(this.aws, id, last));
    return actual && stateOf(handler, actual, last, this.defaultTags);
  }

  async update(token: string, { id, inputs, state }: Existing, given: Properties): Promise<Existing> {
    const handler = this.handler(token);
    const news = withDefaults(handler, given);
    const [before, after] = [inputs, news].map((i) => handlerInputs(handler, i, this.defaultTags)) as [
      Properties,
      Properties,
    ];
    await attempt("update", handler, id, async () => handler.update?.(this.aws, id, changeOf(handler, before, after)));
    return { id, inputs: news, state: (await this.read(token, id, { ...state, ...news })) as Properties };
  }

  async delete(token: string, { id, state }: Existing): Promise<void> {
    const handler = this.handler(token);
    await attempt("delete", handler, id, () => handler.delete(this.aws, id, state));
  }

  /** Inputs whose value in the state means something else. */
  drift(token: string, { inputs, state }: Existing): Record<string, [unknown, unknown]> {
    const { changed } = differenceOf(this.handler(token), Object.keys(inputs), inputs, state);
    return Object.fromEntries(changed.map((name) => [name, [inputs[name], state[name]]]));
  }
}

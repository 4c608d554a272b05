import type { EKSClient } from "@aws-sdk/client-eks";
import { checkChart, type Indexes } from "./charts.ts";
import { checkAddon, checkKubernetes, checkOffer, type Release, readCalendar } from "./eks.ts";
import { checkAction } from "./github.ts";
import { type Client, Unanswered, Wrong } from "./http.ts";
import type { Reference } from "./references.ts";
import { checkImage } from "./registry.ts";

/** The result of checking a reference; `skipped` ones were not checked, with the reason. */
export interface Outcome {
  readonly reference: Reference;
  readonly state: "right" | "wrong" | "unanswered" | "skipped";
  readonly message?: string;
}

export interface ResolveOptions extends Client {
  /** EKS with somebody's credentials; without it add-on versions are skipped. */
  readonly eks?: EKSClient;
  /** The day, as YYYY-MM-DD. */
  readonly today: string;
}

/** How many references are checked at the same time: enough to be quick, few enough for any server. */
const parallel = 8;

class Resolver {
  readonly #options: ResolveOptions;
  readonly #indexes: Indexes = new Map();
  #releases: Promise<readonly Release[]> | undefined;

  constructor(options: ResolveOptions) {
    this.#options = options;
  }

  async #check(reference: Reference): Promise<void> {
    const options = this.#options;
    switch (reference.kind) {
      case "chart":
        return checkChart(options, this.#indexes, reference);
      case "image":
      case "package":
        return checkImage(options, reference.reference);
      case "action":
        return checkAction(options, reference);
      case "kubernetes":
        this.#releases ??= readCalendar(options);
        return checkKubernetes(await this.#releases, reference, options.today);
      case "offer":
        this.#releases ??= readCalendar(options);
        return checkOffer(await this.#releases, reference, options.today);
      case "addon":
        if (options.eks) await checkAddon(options.eks, reference);
    }
  }

  async outcome(reference: Reference): Promise<Outcome> {
    if (reference.kind === "addon" && this.#options.eks === undefined)
      return { reference, state: "skipped", message: "only EKS knows, and asks for credentials: give --aws" };
    try {
      await this.#check(reference);
      return { reference, state: "right" };
    } catch (error) {
      if (error instanceof Wrong) return { reference, state: "wrong", message: error.message };
      if (error instanceof Unanswered) return { reference, state: "unanswered", message: error.message };
      throw error;
    }
  }
}

/** Checks every reference with the server that it names; outcomes in the order of the references. */
export async function resolve(references: readonly Reference[], options: ResolveOptions): Promise<Outcome[]> {
  const resolver = new Resolver(options);
  const outcomes: Outcome[] = [];
  const waiting = references.entries();
  const work = async () => {
    for (const [index, reference] of waiting) outcomes[index] = await resolver.outcome(reference);
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return outcomes;
}

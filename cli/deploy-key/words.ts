import { fingerprintOf, ownerOf } from "../sealing/deploy-key-notes.ts";
import type { Holder, Place } from "./holder.ts";
import { phaseOf, type Standing } from "./steps.ts";

/** What a person is told of a rotation: where it stands, and what to do at the Git host. */

const hostOf = ({ url, source }: Place): string => url ?? `the repository ${source}`;
const again = ({ target }: Holder, wish: string): string => `fleet rotate-deploy-key ${target} ${wish}`;

function idle(holder: Holder, standing: readonly Standing[]): string {
  const keys = standing.map(({ place, present }) => {
    const name = ownerOf(present.publicKey) || "a key without a name";
    const made = present.made === undefined ? "" : `, made on ${present.made}`;
    return `  ${hostOf(place)} with ${name}, ${fingerprintOf(present.publicKey)}${made}`;
  });
  return `No rotation of the deploy keys of ${holder.target} is under way: ${again(holder, "--new")} begins one. It reads
${keys.join("\n")}`;
}

function register(holder: Holder, standing: readonly Standing[]): string {
  const keys = standing.flatMap(({ place, next }) =>
    next === undefined
      ? []
      : [`  at ${hostOf(place)}${place.isForWriting ? ", with write access" : ""}:`, `    ${next.publicKey}`],
  );
  return `Register at the Git host, read-only where nothing else is said, and leave the present keys registered:
${keys.join("\n")}
Nothing reads with them yet. When they are registered: ${again(holder, "--registered")}`;
}

/** How a person sees that Flux reads with a key, and has it read at once. */
function proof({ namespace, source, secret, isForWriting = false }: Place, owner: string): string[] {
  const kubectl = `kubectl --context <cluster> -n ${namespace}`;
  return [
    `  ${kubectl} get secret ${secret} -o jsonpath='{.data.identity\\.pub}' | base64 -d     ends with ${owner}`,
    `  ${kubectl} annotate gitrepository ${source} reconcile.fluxcd.io/requestedAt="$(date +%s)" --overwrite     Flux reads at once`,
    `  ${kubectl} get gitrepository ${source}     READY is True${isForWriting ? ", which shows that it reads: look at the Git host whether it may write" : ""}`,
  ];
}

const former = ({ place, present }: Standing): string[] =>
  present.former === undefined
    ? []
    : [`  at ${hostOf(place)}:`, `    ${present.former}`, `    ${fingerprintOf(present.former)}`];

function remove(holder: Holder, standing: readonly Standing[]): string {
  const present = standing.filter(({ present }) => present.former !== undefined);
  return `${holder.target} gets its new deploy keys with the push of step 2. Wait until it reads with them:
${present.flatMap(({ place, present }) => proof(place, ownerOf(present.publicKey))).join("\n")}
Only then remove at the Git host:
${present.flatMap(former).join("\n")}
When they are removed: ${again(holder, "--removed")}`;
}

/** Where a rotation stands, and what comes next. */
export const tellOf = (holder: Holder, standing: readonly Standing[]): string =>
  ({ idle, register, remove })[phaseOf(standing)](holder, standing);

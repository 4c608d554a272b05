/** Where ministack is, and who asks. */
export interface QueryPlace {
  /** URL of ministack. */
  readonly endpoint: string;
  /** Of the account's root: only the key id counts, ministack checks no signature of its root. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly region: string;
}

type Parameters = Readonly<Record<string, string | number>>;

/** Calls of a service's Query API that the SDK does not have, with their answers: those by which the gateway asks ministack. */
export function queryText({ endpoint, credentials, region }: QueryPlace, service: string, version: string) {
  return async (action: string, parameters: Parameters): Promise<string> => {
    const fields = { Action: action, Version: version, ...parameters };
    const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${day}/${region}/${service}/aws4_request, SignedHeaders=host, Signature=unused`;
    const body = new URLSearchParams(
      Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const answer = await fetch(endpoint, { method: "POST", headers: { authorization }, body });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`ministack refused ${action} with ${JSON.stringify(parameters)}: ${answer.status} ${text}`);
    return text;
  };
}

/** Such calls without an answer: those by which the gateway tells ministack what it knows. */
export function queryApi(place: QueryPlace, service: string, version: string) {
  const call = queryText(place, service, version);
  return async (action: string, parameters: Parameters): Promise<void> => void (await call(action, parameters));
}

import { STS, STSServiceException } from "@aws-sdk/client-sts";
import { ACCOUNT } from "../../instance/cluster-id.ts";
import { type GatewayKey, rootCredentials } from "../key.ts";

/** How many access keys are remembered: sessions come and go. */
const REMEMBERED = 1000;

/**
 * Gives a function that tells the account of an access key, as sts:GetAccessKeyInfo does. A key that nobody has counts as the hub's account's:
 * whoever uses it is refused there.
 */
export function accountsOfKeys({ endpoint, region, key }: { endpoint: string; region: string; key: GatewayKey }) {
  // Long enough for ministack to be restarted.
  const sts = new STS({ endpoint, region, credentials: rootCredentials(key), maxAttempts: 8 });
  const known = new Map<string, string>();
  return async (AccessKeyId: string): Promise<string> => {
    const remembered = known.get(AccessKeyId);
    if (remembered !== undefined) return remembered;
    try {
      const { Account = ACCOUNT } = await sts.getAccessKeyInfo({ AccessKeyId });
      if (known.size >= REMEMBERED) known.clear();
      known.set(AccessKeyId, Account);
      return Account;
    } catch (error) {
      // So STS answers for a key that nobody has, and for what can be none.
      if (error instanceof STSServiceException && error.name === "ValidationError") return ACCOUNT;
      throw error;
    }
  };
}

/** The account in an ARN; the hub's where it names none, which AWS refuses later. */
export function accountOfArn(arn: string): string {
  const account = arn.split(":")[4] ?? "";
  return /^\d{12}$/.test(account) ? account : ACCOUNT;
}

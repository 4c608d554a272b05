import { afterAll } from "vitest";
import { rootAws } from "../../cli/aws.ts";
import { startGatewayCloud } from "./gateway.ts";

/** AWS's emulated API for the test file that imports this module; removed after its tests. */
const cloud = await startGatewayCloud();
afterAll(() => cloud.remove());

export const { instance } = cloud;

/** AWS clients as the account's root. */
export const account = await rootAws(instance);

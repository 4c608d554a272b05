import { expect, test } from "vitest";
import { type Handler, handlers } from "../../../aws/index.ts";

test("the import id of a route gives the id that a creation gives", async () => {
  const route = handlers.get("aws:ec2/route:Route") as Handler;
  await expect(route.importId?.({} as never, "rtb-1_0.0.0.0/0")).resolves.toEqual({
    // Terraform's id: crc32 of the destination, as in its documentation (r-rtb-656C65616E6F721080289494).
    id: "r-rtb-11080289494",
    properties: { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0" },
  });
});

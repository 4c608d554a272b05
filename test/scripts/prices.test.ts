import { describe, expect, test } from "vitest";
import { chosenTypes, priceRows, readGoTable, readRegionFile } from "../../scripts/documents/prices.ts";

const go = `package pricing

// generated at 2026-07-20T13:44:30Z for us-east-1

var InitialOnDemandPricesAWS = map[string]map[ec2types.InstanceType]float64{
\t// us-east-1
\t"us-east-1": {
\t\t// m6i family
\t\t"m6i.large": 0.096000, "m6i.xlarge": 0.192000,
\t\t"u-6tb1.metal": 54.600000,
\t},
\t"us-east-2": {
\t\t"m6i.large": 0.097000,
\t},
}
`;
const ec2 = JSON.stringify([{ type: "m6i.xlarge", priceOnDemand: "0.2300000000" }, { type: "g6.xlarge" }]);
const ebs = JSON.stringify({ "Storage General Purpose gp3 GB Mo": { price: "0.0952000000" } });
const frankfurt = readRegionFile(ec2, ebs, "2023-02-20");

describe("list prices are read from", () => {
  test("a table that Karpenter generated, region by region, with its day", () => {
    expect(readGoTable(go)).toEqual({
      "us-east-1": {
        date: "2026-07-20",
        instances: { "m6i.large": 0.096, "m6i.xlarge": 0.192, "u-6tb1.metal": 54.6 },
      },
      "us-east-2": { date: "2026-07-20", instances: { "m6i.large": 0.097 } },
    });
    expect(() => readGoTable("package pricing")).toThrow("without the line '// generated at <time>'");
    expect(() => readGoTable("// generated at 2026-07-20T13:44:30Z for x\n")).toThrow("without a region");
  });

  test("the files of a region, of which one or both may be empty", () => {
    expect(frankfurt).toEqual({
      date: "2023-02-20",
      instances: { "m6i.xlarge": 0.23 },
      gp3: { price: 0.0952, date: "2023-02-20" },
    });
    expect(readRegionFile("[]\n", "", "2023-02-20")).toBeUndefined();
    expect(readRegionFile("[]\n", ebs, "2023-02-20")).toMatchObject({ instances: {}, gp3: { price: 0.0952 } });
  });
});

describe("the table of list prices", () => {
  const regions = { ...readGoTable(go), "eu-central-1": frankfurt as NonNullable<typeof frankfurt> };

  test("has a row for each type that some region has, and marks what it works out from the xlarge", () => {
    expect(priceRows(regions, chosenTypes)).toEqual({
      regions: "us-east-1 us-east-2 eu-central-1",
      dates: "2026-07-20 2026-07-20 2023-02-20",
      gp3: "- - 0.0952",
      gp3Dates: "- - 2023-02-20",
      instances: { "m6i.large": "0.096 0.097 ~0.115", "m6i.xlarge": "0.192 - 0.23" },
    });
  });

  test("is not made where a family's prices are in another proportion", () => {
    const odd = { "us-east-1": { date: "2026-07-20", instances: { "m6i.large": 0.1, "m6i.xlarge": 0.192 } } };
    expect(() => priceRows(odd, chosenTypes)).toThrow("m6i.large costs 0.1 in us-east-1, and by its size 0.096");
  });
});

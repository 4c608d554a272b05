import { describe, expect, test } from "vitest";
import { chosenTypes, priceRows, readCatalog, readGoTable, readRegionFile } from "../../scripts/documents/prices.ts";

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
const frankfurt = readRegionFile(ec2, ebs);
const catalog = `InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
m7g.xlarge,,,4.0,16.0,,0.1955,0.091200,eu-central-1,euc1-az1,arm64
m7g.xlarge,,,4.0,16.0,,0.1955,0.088900,eu-central-1,euc1-az2,arm64
m5n.xlarge,,,4.0,16.0,,,0.1,eu-central-1,euc1-az2,x86_64
trn1.2xlarge,Trainium,1.0,8.0,32.0,"{'Gpus': [{'Count': 1, 'Name': 'Trainium'}]}",1.34375,0.219800,us-east-1,use1-az5,x86_64
m6i.xlarge,,,4.0,16.0,,0.25,0.1,eu-central-1,euc1-az1,x86_64
`;

describe("list prices are read from", () => {
  test("a table that Karpenter generated, region by region, with its day", () => {
    expect(readGoTable(go)).toEqual({
      date: "2026-07-20",
      regions: {
        "us-east-1": { instances: { "m6i.large": 0.096, "m6i.xlarge": 0.192, "u-6tb1.metal": 54.6 } },
        "us-east-2": { instances: { "m6i.large": 0.097 } },
      },
    });
    expect(() => readGoTable("package pricing")).toThrow("without the line '// generated at <time>'");
    expect(() => readGoTable("// generated at 2026-07-20T13:44:30Z for x\n")).toThrow("without a region");
  });

  test("the files of a region, of which one or both may be empty", () => {
    expect(frankfurt).toEqual({ instances: { "m6i.xlarge": 0.23 }, gp3: 0.0952 });
    expect(readRegionFile("[]\n", "")).toBeUndefined();
    expect(readRegionFile("[]\n", ebs)).toEqual({ instances: {}, gp3: 0.0952 });
  });

  test("SkyPilot's catalog, which has a row for each zone, without accelerators and unpriced types", () => {
    expect(readCatalog(catalog)).toEqual({
      "eu-central-1": { instances: { "m7g.xlarge": 0.1955, "m6i.xlarge": 0.25 } },
    });
    expect(() => readCatalog("InstanceType,Region\n")).toThrow("the catalog has no column Price: InstanceType,Region");
  });
});

describe("the table of list prices", () => {
  const sources = [
    { name: "first", ...readGoTable(go) },
    { name: "second", date: "2025-10", regions: readCatalog(catalog) },
    {
      name: "third",
      date: "2023-02-20",
      regions: {
        "eu-central-1": frankfurt as NonNullable<typeof frankfurt>,
        "us-east-1": { instances: { "m6i.large": 0.1 } },
      },
    },
  ];

  test("has a row for each type of a source, marks prices derived from the xlarge, and names the first source of each", () => {
    expect(priceRows(sources, chosenTypes)).toEqual({
      regions: "eu-central-1 us-east-1 us-east-2",
      sources: {
        a: { name: "first", date: "2026-07-20" },
        b: { name: "second", date: "2025-10" },
        c: { name: "third", date: "2023-02-20" },
      },
      gp3: "0.0952c - -",
      instances: { "m6i.large": "~0.125b 0.096a 0.097a", "m6i.xlarge": "0.25b 0.192a -", "m7g.xlarge": "0.1955b - -" },
    });
  });

  test("is not made where a family's prices are in another proportion", () => {
    const odd = { "us-east-1": { instances: { "m6i.large": 0.1, "m6i.xlarge": 0.192 } } };
    expect(() => priceRows([{ name: "odd", date: "2026-07-20", regions: odd }], chosenTypes)).toThrow(
      "m6i.large costs 0.1 in us-east-1, and by its size 0.096",
    );
  });
});

import { describe, expect, test } from "vitest";
import { counter } from "../../bench/metrics.ts";
import { table } from "../../bench/report.ts";

describe("the report of a benchmark", () => {
  test("has its cells below each other, also where a row has fewer", () => {
    expect(
      table([
        ["nodes", "1.5 s", "3 %"],
        ["together", "120.0 s"],
      ]),
    ).toEqual(["nodes       1.5 s  3 %", "together  120.0 s"]);
  });
});

describe("a counter of the API server", () => {
  const metrics = `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",verb="GET"} 12
apiserver_request_total{code="201",verb="POST"} 1.5e+01
apiserver_request_total_other{code="200"} 99
`;

  test("is summed over its labels, and no other counter of a like name", () => {
    expect(counter(metrics, "apiserver_request_total")).toBe(27);
  });

  test("that is not there is an error, not nothing", () => {
    expect(() => counter(metrics, "apiserver_requests")).toThrow("the metrics have no counter apiserver_requests");
  });
});

import { expect, test } from "vitest";
import { commitLink, commitOf, consoleLink, repositoryLink } from "../../../cli/report/links.ts";
import { commit, spoke } from "./support.ts";

test("a repository's page is that of its host, whichever way Flux fetches it", () => {
  const page = "https://git.example.com/team/repo";
  expect(repositoryLink("ssh://git@git.example.com:2222/team/repo.git")).toBe(page);
  expect(repositoryLink("https://user:pass@git.example.com/team/repo.git")).toBe(page);
  expect(repositoryLink("https://git.example.com:8443/team/repo")).toBe("https://git.example.com:8443/team/repo");
});

test("nothing else becomes a link", () => {
  for (const url of [
    undefined,
    "javascript:alert(1)",
    "http://git.example.com/x",
    "git@github.com:a/b",
    "https://git-codecommit.eu-central-1.amazonaws.com/v1/repos/x",
  ])
    expect(repositoryLink(url)).toBeUndefined();
});

test("a commit's page is where its host has it", () => {
  const id = commit("a");
  expect(commitLink("https://github.com/a/b", id)).toBe(`https://github.com/a/b/commit/${id}`);
  expect(commitLink("https://gitlab.com/a/b", id)).toBe(`https://gitlab.com/a/b/-/commit/${id}`);
  expect(commitLink("https://bitbucket.org/a/b", id)).toBe(`https://bitbucket.org/a/b/commits/${id}`);
  expect(commitLink("https://github.com/a/b", "1.2.3")).toBeUndefined();
  expect(commitOf(`main@sha1:${id}`)).toBe(id);
  expect(commitOf("1.2.3")).toBeUndefined();
});

test("the console is that of the cluster's partition", () => {
  const of = (partition: string, region: string) =>
    consoleLink(
      spoke("blue", { region }, { cluster: { name: "blue", arn: `arn:${partition}:eks:${region}:1:cluster/blue` } }),
    );
  expect(of("aws-cn", "cn-north-1")).toBe(
    "https://cn-north-1.console.amazonaws.cn/eks/clusters/blue?region=cn-north-1",
  );
  expect(of("aws-us-gov", "us-gov-west-1")).toContain("https://us-gov-west-1.console.amazonaws-us-gov.com/");
  expect(of("aws-nowhere", "x")).toBeUndefined();
});

import { expect, test } from "vitest";
import { aptConfig, chosenPackages, hasApt } from "../../../../functions/spoke/package/debian.ts";

test("packages are taken apart only where apt-get and dpkg-deb are: apt alone may be another system's", () => {
  expect(hasApt(() => true)).toBe(true);
  expect(hasApt((path) => path === "/usr/bin/apt-get")).toBe(false);
});

test("of a package's dependencies the libraries are taken, but never another C library, Perl or a service", () => {
  const plan = [
    "Inst libc6 (2.36-9+deb12u14 Debian:12.15/oldstable [amd64])",
    "Inst perl-base (5.36.0-7 Debian:12.15/oldstable [amd64])",
    "Inst libperl5.36 (5.36.0-7 Debian:12.15/oldstable [amd64])",
    "Inst adduser (3.134 Debian:12.15/oldstable [all])",
    "Inst libnftables1 (1.0.6-2 Debian:12.15/oldstable [amd64])",
    "Inst nftables (1.0.6-2 Debian:12.15/oldstable [amd64])",
    "Conf nftables (1.0.6-2 Debian:12.15/oldstable [amd64])",
  ].join("\n");
  expect(chosenPackages(plan, ["nftables"])).toEqual(["libnftables1", "nftables"]);
});

test("apt writes to its own folder only, and runs no hook of the machine", () => {
  const config = aptConfig("/cache/apt");
  for (const name of ["Dir::State", "Dir::State::status", "Dir::Cache", "Dir::Log"])
    expect(config).toMatch(new RegExp(`^${name} "/cache/apt`, "m"));
  for (const hook of ["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"])
    expect(config).toContain(`#clear APT::Update::${hook};`);
});

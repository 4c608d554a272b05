import { afterEach, beforeEach, vi } from "vitest";
import { SpokesCheckout } from "./spokes-checkout.ts";

/** For commands that change a checkout: a new one for each test of the file, and what is printed meanwhile. */
export function onCheckout(): { at: SpokesCheckout; said: string } {
  const its = { at: undefined as unknown as SpokesCheckout, said: "" };
  beforeEach(() => {
    its.at = new SpokesCheckout();
    its.said = "";
    vi.spyOn(console, "log").mockImplementation((text) => {
      its.said += `${text}\n`;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    its.at.remove();
  });
  return its;
}

/** Programs of a machine without kustomize. */
export const withoutKustomize = {
  kustomize: (): never => {
    throw new Error("none here");
  },
};

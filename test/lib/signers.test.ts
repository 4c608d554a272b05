import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSigner } from "../../lib/signers.ts";
import { pgpKey, sshKey } from "../support/signers.ts";

const [type = "", key = ""] = sshKey.split(" ");
const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;

describe("the public key of a signer", () => {
  test.each([
    ["OpenPGP, as gpg writes it", "alice.asc", pgpKey],
    ["OpenPGP with a comment", "alice.asc", pgpKey.replace("BLOCK-----\n", "BLOCK-----\nComment: of Alice\n")],
    ["OpenPGP with line breaks of Windows", "alice.asc", pgpKey.replaceAll("\n", "\r\n")],
    ["OpenPGP without a checksum, which is optional (RFC 9580, 6.1)", "alice.asc", pgpKey.replace(/\n=.{4}\n/, "\n")],
    ["SSH, as ssh-keygen writes it", "bob.sshpub", sshKey],
    ["SSH without a comment", "bob.sshpub", `${type} ${key}`],
    ["several of SSH", "team.sshpub", `${sshKey}${type} ${key} another\n`],
  ])("is of %s", (_, name, text) => expect(isSigner(name, text)).toBe(true));

  test.each([
    ["a private key of OpenPGP", "alice.asc", pgpKey.replaceAll("PUBLIC", "PRIVATE")],
    ["a secret key in the armor of a public one", "alice.asc", pgpKey.replace("\nmDME", "\nlDME")],
    // Flux reads the first and leaves the second out (ProtonMail/go-crypto, openpgp.ReadArmoredKeyRing).
    ["two of OpenPGP in one file", "alice.asc", `${pgpKey}${pgpKey}`],
    ["OpenPGP with something after it", "alice.asc", `${pgpKey}mine\n`],
    ["OpenPGP of which a part is missing", "alice.asc", pgpKey.split("\n").slice(0, 4).join("\n")],
    ["SSH under the name of OpenPGP, whose signatures Flux would look for", "bob.asc", sshKey],
    ["OpenPGP under the name of SSH", "alice.sshpub", pgpKey],
    ["a private key", "bob.sshpub", pem],
    ["SSH with a type that is not the key's", "bob.sshpub", `ssh-rsa ${key}`],
    ["SSH of which a part is missing", "bob.sshpub", `${type} ${key.slice(0, 8)}`],
    ["SSH with an option, which limits nothing here", "bob.sshpub", `no-pty ${sshKey}`],
    ["nothing", "bob.sshpub", ""],
    ["a name without a type", "bob.pub", sshKey],
    ["a name that no key of a Secret has", "a/bob.sshpub", sshKey],
  ])("is not %s", (_, name, text) => expect(isSigner(name, text)).toBe(false));
});

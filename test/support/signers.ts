/** Public keys of people who sign commits; nobody has their private halves any more. */

/** gpg --export --armor, GnuPG 2.2. */
export const pgpKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawiKWRYJKwYBBAHaRw8BAQdA7sO6lqu9aWMtnVLtdrc6eLIa6FggVfN24lXB
EvejSP60GUFsaWNlIDxhbGljZUBleGFtcGxlLmNvbT6IkAQTFggAOBYhBE4simn0
36JxNNHOEFxQdJSRlw4WBQJrCIpZAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheA
AAoJEFxQdJSRlw4WgTUBAKk4d6LkFonX8zgm5p9pC51NdrEBr2K69heYPag6nArC
AQCFk7gAcYK8X1aWRVbzrcqip97aWPGue/aok76MCspVDg==
=6hHH
-----END PGP PUBLIC KEY BLOCK-----
`;

/** ssh-keygen -t ed25519. */
export const sshKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICl88pDr0aXQyeoAtk2eN2++qcjaWRhJNRjB2HQL7cbn bob@example.com\n";

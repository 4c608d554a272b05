/**
 * Why Prometheus doesn't take rules: it says so in its log (logfmt), its answer says only that something was wrong.
 * @param log what it wrote since it was asked
 * @param folder that of the rule files, which is nobody's business
 */
export function refusalIn(log: string, folder: string, answer: string): string {
  const errors = [...log.matchAll(/\berr=(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)].map(([, quoted, plain = ""]) =>
    quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1"),
  );
  const said = errors.find((error) => error.includes(folder)) ?? answer;
  return said.replaceAll(`${folder}/`, "");
}

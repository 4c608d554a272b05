/** An error or a fatal error in the log of a Kubernetes program (klog, doc.go): `E0102 15:04:05.000000 1 file.go:1] message`. */
const klogError = /^[EF]\d{4} [\d:.]+ +\d+ [^ ]+\] (.*)$/;

/** The last error in lines of a log, without its time; the last line where no line is marked as an error. Undefined without lines. */
export function lastErrorIn(lines: readonly string[]): string | undefined {
  const said = lines.filter((line) => line.trim() !== "");
  const marked = said.findLast((line) => klogError.test(line));
  return marked === undefined ? said.at(-1) : klogError.exec(marked)?.[1];
}

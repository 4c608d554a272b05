/** What a program asks its dynamic linker for (System V ABI, "Program Loading and Dynamic Linking"), for the processors of images. */

export interface Linkage {
  /** The processor's name in images; undefined for one that no image is made for. */
  readonly architecture: string | undefined;
  /** Path of the dynamic linker; undefined in a library or a static program. */
  readonly interpreter: string | undefined;
  /** File names of libraries. */
  readonly needed: readonly string[];
}

// Program headers (p_type) and entries of the dynamic section (d_tag).
const PT = { load: 1, dynamic: 2, interpreter: 3 } as const;
const DT = { end: 0, needed: 1, strings: 5 } as const;
// e_machine: EM_X86_64 and EM_AARCH64.
const MACHINES: Readonly<Record<number, string>> = { 62: "amd64", 183: "arm64" };
const HEADER = 64;

/** @throws for what is no ELF file of 64 bits in little-endian order */
export function linkage(file: Buffer, name: string): Linkage {
  if (file.length < HEADER || file.toString("latin1", 0, 6) !== "\x7fELF\x02\x01")
    throw new Error(`${name} is no 64-bit little-endian ELF file`);
  const u64 = (offset: number) => Number(file.readBigUInt64LE(offset));
  const text = (offset: number) => file.toString("utf8", offset, file.indexOf(0, offset));
  const [start, size, count] = [u64(32), file.readUInt16LE(54), file.readUInt16LE(56)];
  const segments = Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return { type: file.readUInt32LE(at), offset: u64(at + 8), address: u64(at + 16), size: u64(at + 32) };
  });
  const of = (type: number) => segments.find((segment) => segment.type === type);

  const offsetOf = (address: number): number => {
    const segment = segments.find(
      (each) => each.type === PT.load && address >= each.address && address < each.address + each.size,
    );
    if (!segment) throw new Error(`${name} has no segment for the address ${address}`);
    return address - segment.address + segment.offset;
  };

  const entries: { readonly tag: number; readonly value: number }[] = [];
  const dynamic = of(PT.dynamic);
  for (let at = dynamic?.offset ?? 0; dynamic && at < dynamic.offset + dynamic.size; at += 16) {
    const entry = { tag: u64(at), value: u64(at + 8) };
    if (entry.tag === DT.end) break;
    entries.push(entry);
  }
  const strings = entries.find(({ tag }) => tag === DT.strings);
  const interpreter = of(PT.interpreter);
  return {
    architecture: MACHINES[file.readUInt16LE(18)],
    interpreter: interpreter && text(interpreter.offset),
    needed: strings
      ? entries.filter(({ tag }) => tag === DT.needed).map(({ value }) => text(offsetOf(strings.value) + value))
      : [],
  };
}

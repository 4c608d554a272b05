/** Keeps a comment within the size that GitHub accepts. */

/** Maximum number of characters of a comment. GitHub accepts 65,536, and pull-request.yml appends a note. */
export const commentLimit = 65_000;

export interface Section {
  readonly opening: string;
  /** Parts that are shown or left out as a whole. */
  readonly blocks: readonly string[];
  readonly closing: string;
  /** The text about `count` parts that are left out. */
  readonly leftOut: (count: number) => string;
}

const whole = ({ opening, blocks, closing }: Section): string => [opening, ...blocks, closing].join("");

/** As many blocks as fit, and a line about the rest. */
function cut(section: Section, room: number): string {
  const { opening, blocks, closing, leftOut } = section;
  const kept: string[] = [];
  let left = room - opening.length - closing.length - leftOut(blocks.length).length;
  for (const block of blocks) {
    if (block.length > left) break;
    kept.push(block);
    left -= block.length;
  }
  return [opening, ...kept, leftOut(blocks.length - kept.length), closing].join("");
}

/** How `room` is divided among the sections: each gets what it needs if that is less than its fair share. */
function shares(sizes: readonly number[], room: number): number[] {
  const given = new Map<number, number>();
  let left = room;
  for (const [index, size] of [...sizes.entries()].sort(([, a], [, b]) => a - b)) {
    const share = Math.min(size, Math.floor(left / (sizes.length - given.size)));
    given.set(index, share);
    left -= share;
  }
  return sizes.map((_, index) => given.get(index) ?? 0);
}

/**
 * Head and sections in at most `limit` characters: the head is whole, sections are cut, and those that have no room even for
 * their first lines are counted by `rest`.
 */
export function fitted(
  head: string,
  sections: readonly Section[],
  rest: (count: number) => string,
  limit: number,
): string {
  const texts = sections.map(whole);
  if (head.length + texts.reduce((sum, { length }) => sum + length, 0) <= limit) return [head, ...texts].join("");
  const smallest = (section: Section) =>
    section.opening.length + section.closing.length + section.leftOut(section.blocks.length).length;
  let room = limit - head.length - rest(sections.length).length;
  let count = 0;
  for (const section of sections) {
    if (smallest(section) > room) break;
    room -= smallest(section);
    count += 1;
  }
  const shown = sections.slice(0, count);
  const given = shares(
    shown.map((section, index) => (texts[index] as string).length - smallest(section)),
    room,
  );
  const parts = shown.map((section, index) => {
    const size = smallest(section) + Math.max(0, given[index] as number);
    return (texts[index] as string).length <= size ? (texts[index] as string) : cut(section, size);
  });
  return [head, ...parts, count < sections.length ? rest(sections.length - count) : ""].join("");
}

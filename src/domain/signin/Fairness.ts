/** Shares of what is bounded: of groups that want it, and of the groups within each of them. */

/** Something that belongs to groups, the widest first: the network of a provider, that of a customer, an address. */
export interface GroupMember {
  readonly groups: ReadonlyArray<string>
}

const groupAt = ({ groups }: GroupMember, depth: number): string => groups[depth] ?? ""

const depthOf = (all: ReadonlyArray<GroupMember>): number => Math.max(0, ...all.map(({ groups }) => groups.length))

const countAt = (all: ReadonlyArray<GroupMember>, depth: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const each of all) counts.set(groupAt(each, depth), (counts.get(groupAt(each, depth)) ?? 0) + 1)
  return counts
}

/** The one of all that gives way: the last of the group with the most, and in it of the group with the most. */
export const surplus = <A extends GroupMember>(all: ReadonlyArray<A>): A | undefined => {
  let left = all
  for (let depth = 0; depth < depthOf(all); depth++) {
    const counts = countAt(left, depth)
    const most = Math.max(...counts.values())
    const last = left.findLast((each) => counts.get(groupAt(each, depth)) === most)
    left = left.filter((each) => last !== undefined && groupAt(each, depth) === groupAt(last, depth))
  }
  return left.at(-1)
}

/** The one that comes next: the first of the group of which fewest are at work, and in it of the group of which are. */
export const next = <A extends GroupMember>(
  waiting: ReadonlyArray<A>,
  working: ReadonlyArray<GroupMember>
): A | undefined => {
  let left = waiting
  for (let depth = 0; depth < depthOf(waiting); depth++) {
    const counts = countAt(working, depth)
    const load = (each: GroupMember): number => counts.get(groupAt(each, depth)) ?? 0
    const least = Math.min(...left.map(load))
    const first = left.find((each) => load(each) === least)
    left = left.filter((each) => first !== undefined && groupAt(each, depth) === groupAt(first, depth))
  }
  return left[0]
}

/** The words in the platform's objects, which are archived of those that the archive has no members for. */

/** Members that people have written, or that name something. */
const worded = new Set([
  "address",
  "description",
  "domain",
  "emoticon",
  "message",
  "prizeDescription",
  "rejectComment",
  "text",
  "title"
])
/** Members with ids of people. */
const personal = new Set(["inviterId", "newCreatorId", "userId", "users"])
/** Members that count seconds. */
const timed = new Set(["duration", "period"])

const wordsOfMember = (name: string, value: unknown, nameOf: (userId: number) => string): ReadonlyArray<string> => {
  if (typeof value === "string") return worded.has(name) && value !== "" ? [value] : []
  if (typeof value === "number") return personal.has(name) ? [nameOf(value)] : timed.has(name) ? [`${value} s`] : []
  if (Array.isArray(value)) return value.flatMap((item) => wordsOfMember(name, item, nameOf))
  return wordsIn(value, nameOf)
}

/** The words of the object and of what it has, in their order; people by their names. */
export const wordsIn = (value: unknown, nameOf: (userId: number) => string): ReadonlyArray<string> =>
  typeof value !== "object" || value === null || ArrayBuffer.isView(value)
    ? []
    : Object.entries(value).flatMap(([name, member]) => wordsOfMember(name, member, nameOf))

import { parseSync, Visitor } from "rolldown/utils"

/** The source with the contents of comments, strings, templates and regular expressions blanked, at unchanged positions. */
export const codeOf = (source: string): string => {
  const { comments, errors, program } = parseSync("source.ts", source)
  if (errors[0] !== undefined) throw new Error(errors[0].message)
  const hidden = comments.map(({ end, start }) => [start, end] as const)
  new Visitor({
    Literal: (node) => {
      if ("regex" in node) hidden.push([node.start + 1, node.end - node.regex.flags.length - 1])
      else if (typeof node.value === "string") hidden.push([node.start + 1, node.end - 1])
    },
    TemplateElement: ({ end, start, tail }) => hidden.push([start + 1, end - (tail ? 1 : 2)])
  }).visit(program)
  let code = ""
  let at = 0
  for (const [from, to] of hidden.toSorted(([one], [other]) => one - other)) {
    code += source.slice(at, from) + source.slice(from, to).replaceAll(/[^\n]/g, " ")
    at = to
  }
  return code + source.slice(at)
}

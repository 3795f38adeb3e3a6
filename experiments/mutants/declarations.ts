/** Where the named declarations of a source file stand. */
import { parseSync, Visitor } from "rolldown/utils"

export interface Declaration {
  /** The names from the outermost declaration to this one. */
  readonly path: ReadonlyArray<string>
  readonly start: number
  readonly end: number
}

interface Ranged {
  readonly start: number
  readonly end: number
}

type Name = { readonly type: string; readonly name?: unknown; readonly value?: unknown }

/** The text of a plain name: an identifier, a private one with its `#`, or a string. */
const textOf = (name: Name | null): string | undefined => {
  if (name === null) return undefined
  if (name.type === "Literal") return typeof name.value === "string" ? name.value : undefined
  if (typeof name.name !== "string") return undefined
  return name.type === "PrivateIdentifier" ? `#${name.name}` : name.name
}

/** What a module exports without a name. */
const exported = { type: "Identifier", name: "default" }

/** The functions, constants, classes, types and members of a source, each before those inside it. */
export const declarationsOf = (file: string, source: string): ReadonlyArray<Declaration> => {
  const { errors, program } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} is no source: ${errors[0]?.message}`)
  const found: Array<Declaration> = []
  const open: Array<string> = []
  /** The members of objects that are made, not of those that are taken apart. */
  const members = new Set<Ranged>()
  const enter = (node: Ranged, name: Name | null) => {
    const text = textOf(name)
    if (text === undefined) return
    open.push(text)
    found.push({ path: [...open], start: node.start, end: node.end })
  }
  const leave = (_: Ranged, name: Name | null) => {
    if (textOf(name) !== undefined) open.pop()
  }
  const both = <A extends Ranged>(nameOf: (node: A) => Name | null) =>
    [(node: A) => enter(node, nameOf(node)), (node: A) => leave(node, nameOf(node))] as const
  const [enterNamed, leaveNamed] = both<Ranged & { readonly id: Name | null }>(({ id }) => id)
  const [enterMember, leaveMember] = both<Ranged & { readonly computed?: boolean; readonly key: Name }>((node) =>
    node.computed === true ? null : node.key
  )
  new Visitor({
    ExportDefaultDeclaration: (node) => enter(node, exported),
    "ExportDefaultDeclaration:exit": (node) => leave(node, exported),
    FunctionDeclaration: enterNamed,
    "FunctionDeclaration:exit": leaveNamed,
    VariableDeclarator: enterNamed,
    "VariableDeclarator:exit": leaveNamed,
    ClassDeclaration: enterNamed,
    "ClassDeclaration:exit": leaveNamed,
    TSTypeAliasDeclaration: enterNamed,
    "TSTypeAliasDeclaration:exit": leaveNamed,
    TSInterfaceDeclaration: enterNamed,
    "TSInterfaceDeclaration:exit": leaveNamed,
    MethodDefinition: enterMember,
    "MethodDefinition:exit": leaveMember,
    PropertyDefinition: enterMember,
    "PropertyDefinition:exit": leaveMember,
    ObjectExpression: ({ properties }) => properties.forEach((property) => members.add(property)),
    Property: (node) => {
      if (members.has(node)) enterMember(node)
    },
    "Property:exit": (node) => {
      if (members.has(node)) leaveMember(node)
    }
  }).visit(program)
  return found
}

/** The declarations that a name such as `make` or `make.claim` means: those whose path ends with it. */
export const declarationsNamed = (
  name: string,
  declarations: ReadonlyArray<Declaration>
): ReadonlyArray<Declaration> => {
  const names = name.split(".")
  return declarations.filter(({ path }) => names.every((each, at) => path[path.length - names.length + at] === each))
}

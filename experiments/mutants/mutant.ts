/**
 * A change to a source that must turn tests red.
 *
 * To write one, name the declaration, the smallest piece of its code that says what the change is about, and what stands
 * there instead; then what would be lost, and the tests that see it:
 *
 *     change({ in: "isOpen", replace: "<", by: "<=" })
 *       .loses("an invitation works once more")
 *       .seenBy("test/domain/Invitation.test.ts")
 *
 * It goes on holding when the file is formatted anew, when the declaration moves in it, and when its neighbours get other
 * names.
 *
 * `in` is the name of a function, constant, class, type or member, or several from the outside in where one is not
 * enough: `make.claim`. A private member has its `#`, and `default` is what a module exports without a name. Take the
 * innermost declaration whose name says something.
 *
 * `replace` must stand at one place in the declarations of that name. White space in it, or none, means any white space
 * between words and signs, so that it may go over several lines; a word or an operator at its edge is a whole one.
 *
 * `npm test` says which changes have no place, or more than one; `npm run mutants -- --only 12` tries one.
 */

export interface Change {
  /** The declaration. */
  readonly in: string
  /** The piece of its code. */
  readonly replace: string
  /** What stands there instead; nothing where the piece is dropped. */
  readonly by: string
}

interface Listed {
  readonly change: Change
  /** What would be lost. */
  readonly why: string
  /** The files that must see it. */
  readonly tests: ReadonlyArray<string>
}

/** By the paths of the sources. */
export type MutantsByFile = Readonly<Record<string, ReadonlyArray<Listed>>>

export interface Mutant extends Listed {
  readonly file: string
}

export const change = (change: Change) => ({
  loses: (why: string) => ({ seenBy: (...tests: ReadonlyArray<string>): Listed => ({ change, why, tests }) })
})

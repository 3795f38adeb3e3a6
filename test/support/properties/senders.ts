/** Who sends the requests by which every operation is tried. */
import { Role } from "../../../src/domain/people/Access.ts"
import type * as Operation from "../../../src/kernel/Operation.ts"
import { operations } from "../../added/index.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** A superadmin, where one may. */
export const senderOf = ({ roles }: Operation.Any): Role => roles.includes("superadmin") ? "superadmin" : "owner"

/**
 * Besides the sender a role that may call the operation and one that may not, where there are such: others for the next
 * operation, so that all come up.
 */
export const otherRoles = (operation: Operation.Any): ReadonlyArray<Role> => {
  const others = Role.literals.filter((role) => role !== senderOf(operation))
  return [true, false].flatMap((may) => {
    const alike = others.filter((role) => operation.roles.includes(role) === may)
    return alike.filter((_, index) => index === all.indexOf(operation) % alike.length)
  })
}

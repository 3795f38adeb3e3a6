/**
 * Changes to the sources of which each alone must turn tests red; `mutant.ts` says how one is written. They are of the
 * pure rules, the kernel, the watch and the authorization server; storage and transports are tested by properties and
 * faults, and their sources change too often to be quoted.
 */
import { capture } from "./lists/capture.ts"
import { domain } from "./lists/domain.ts"
import { kernel } from "./lists/kernel.ts"
import { oauth } from "./lists/oauth.ts"
import { protection } from "./lists/protection.ts"
import type { Mutant } from "./mutant.ts"

export const mutants: ReadonlyArray<Mutant> = [
  domain,
  protection,
  kernel,
  oauth,
  capture
].flatMap((byFile) => Object.entries(byFile).flatMap(([file, listed]) => listed.map((mutant) => ({ file, ...mutant }))))

/** Which applications an organization lets its admins connect, as an operator sets it. */
import * as Applications from "../administration/Applications.ts"
import { commandOf } from "./Declared.ts"

export const listApplications = commandOf(Applications.listApplications)
export const requireApproval = commandOf(Applications.requireApproval)
export const approveApplication = commandOf(Applications.approveApplication)
export const withdrawApplication = commandOf(Applications.withdrawApplication)

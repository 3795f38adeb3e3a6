/** The sign-in of admins to the console: what its pages need besides the core and the keys of their forms. */
import { Layer } from "effect"
import { AdminSignIn } from "../ports/signin/AdminSignIn.ts"
import * as ProviderSignIn from "./identity/ProviderSignIn.ts"
import * as ConsoleSessions from "./sql/signin/ConsoleSessions.ts"
import * as ForgottenPasswords from "./sql/signin/ForgottenPasswords.ts"
import * as Invitations from "./sql/signin/Invitations.ts"
import * as SecondFactors from "./sql/signin/SecondFactors.ts"
import * as SignIns from "./sql/signin/SignIns.ts"

export const layer = Layer.mergeAll(
  SignIns.layer,
  SecondFactors.layer,
  AdminSignIn.layer,
  ForgottenPasswords.layer,
  Invitations.layer,
  ProviderSignIn.layer
).pipe(Layer.provideMerge(ConsoleSessions.layer))

/** How admins sign in to the console: what its pages need besides the core and the keys of their forms. */
import { Layer } from "effect"
import { AdminSignIn } from "../console/AdminSignIn.ts"
import * as ProviderSignIn from "./identity/ProviderSignIn.ts"
import * as ConsoleSessions from "./sql/ConsoleSessions.ts"
import * as ForgottenPasswords from "./sql/ForgottenPasswords.ts"
import * as Invitations from "./sql/Invitations.ts"
import * as SecondFactors from "./sql/SecondFactors.ts"
import * as SignIns from "./sql/SignIns.ts"

export const layer = Layer.mergeAll(
  SignIns.layer,
  SecondFactors.layer,
  AdminSignIn.layer,
  ForgottenPasswords.layer,
  Invitations.layer,
  ProviderSignIn.layer
).pipe(Layer.provideMerge(ConsoleSessions.layer))

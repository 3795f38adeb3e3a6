/** The migrations by name, in order. */
import type * as Migrate from "../../postgres/Migrate.ts"
import createConsole from "./0001_create_console.ts"
import createSimulatedPlatform from "./0002_create_simulated_platform.ts"
import createOAuth from "./0003_create_oauth.ts"
import createConsoleSessions from "./0004_create_console_sessions.ts"
import keepStandings from "./0005_keep_standings.ts"
import extendOAuth from "./0007_extend_oauth.ts"
import extendSignIn from "./0008_extend_sign_in.ts"
import proveJournal from "./0009_prove_journal.ts"
import searchAccounts from "./0010_search_accounts.ts"
import keepLastFour from "./0011_keep_last_four.ts"
import separateService from "./0012_separate_service.ts"
import keepStatusPlain from "./0013_keep_status_plain.ts"
import keepIdempotencyKeys from "./0014_keep_idempotency_keys.ts"
import appendEvents from "./0015_append_events.ts"
import countReserved from "./0016_count_reserved.ts"
import addPeople from "./0017_add_people.ts"
import addOutbox from "./0018_add_outbox.ts"
import watchAccounts from "./0019_watch_accounts.ts"
import extendSimulatedPlatform from "./0020_extend_simulated_platform.ts"
import ownAccounts from "./0021_own_accounts.ts"
import sampleStatuses from "./0022_sample_statuses.ts"
import orderSessions from "./0023_order_sessions.ts"
import addPasswordResets from "./0024_add_password_resets.ts"
import addSecondFactors from "./0025_add_second_factors.ts"
import addIdentityProviders from "./0026_add_identity_providers.ts"
import addLogins from "./0027_add_logins.ts"
import holdSecrets from "./0028_hold_secrets.ts"
import keepMessengerKeys from "./0029_keep_messenger_keys.ts"
import timeJobs from "./0031_time_jobs.ts"
import indexLastUses from "./0034_index_last_uses.ts"
import namePeppers from "./0035_name_peppers.ts"
import retireAccounts from "./0036_retire_accounts.ts"
import pressDeadlines from "./0039_press_deadlines.ts"
import tellOutages from "./0040_tell_outages.ts"
import logOutRetired from "./0043_log_out_retired.ts"
import knowBrowsersLong from "./0047_know_browsers_long.ts"
import shareResetRequests from "./0048_share_reset_requests.ts"
import expireSignUpLinks from "./0050_expire_sign_up_links.ts"
import pressLateDeadlines from "./0054_press_late_deadlines.ts"
import boundProviderAges from "./0056_bound_provider_ages.ts"
import claimEvenly from "./0057_claim_evenly.ts"
import rememberLogOuts from "./0058_remember_log_outs.ts"
import tellSilenceOnce from "./0059_tell_silence_once.ts"
import endByLock from "./0064_end_by_lock.ts"

export const migrations: Migrate.Migrations = {
  "0001_create_console": createConsole,
  "0002_create_simulated_platform": createSimulatedPlatform,
  "0003_create_oauth": createOAuth,
  "0004_create_console_sessions": createConsoleSessions,
  "0005_keep_standings": keepStandings,
  "0007_extend_oauth": extendOAuth,
  "0008_extend_sign_in": extendSignIn,
  "0009_prove_journal": proveJournal,
  "0010_search_accounts": searchAccounts,
  "0011_keep_last_four": keepLastFour,
  "0012_separate_service": separateService,
  "0013_keep_status_plain": keepStatusPlain,
  "0014_keep_idempotency_keys": keepIdempotencyKeys,
  "0015_append_events": appendEvents,
  "0016_count_reserved": countReserved,
  "0017_add_people": addPeople,
  "0018_add_outbox": addOutbox,
  "0019_watch_accounts": watchAccounts,
  "0020_extend_simulated_platform": extendSimulatedPlatform,
  "0021_own_accounts": ownAccounts,
  "0022_sample_statuses": sampleStatuses,
  "0023_order_sessions": orderSessions,
  "0024_add_password_resets": addPasswordResets,
  "0025_add_second_factors": addSecondFactors,
  "0026_add_identity_providers": addIdentityProviders,
  "0027_add_logins": addLogins,
  "0028_hold_secrets": holdSecrets,
  "0029_keep_messenger_keys": keepMessengerKeys,
  "0031_time_jobs": timeJobs,
  "0034_index_last_uses": indexLastUses,
  "0035_name_peppers": namePeppers,
  "0036_retire_accounts": retireAccounts,
  "0039_press_deadlines": pressDeadlines,
  "0040_tell_outages": tellOutages,
  "0043_log_out_retired": logOutRetired,
  "0047_know_browsers_long": knowBrowsersLong,
  "0048_share_reset_requests": shareResetRequests,
  "0050_expire_sign_up_links": expireSignUpLinks,
  "0054_press_late_deadlines": pressLateDeadlines,
  "0056_bound_provider_ages": boundProviderAges,
  "0057_claim_evenly": claimEvenly,
  "0058_remember_log_outs": rememberLogOuts,
  "0059_tell_silence_once": tellSilenceOnce,
  "0064_end_by_lock": endByLock
}

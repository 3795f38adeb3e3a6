/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: {
    object: "notification_settings",
    recipients: "owner_superadmins"
  }
} as const

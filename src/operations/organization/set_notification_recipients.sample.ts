/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    recipients: "owner_superadmins"
  },
  answer: {
    object: "notification_settings",
    recipients: "owner_superadmins"
  }
} as const

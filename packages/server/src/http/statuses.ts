// The closed word lists of statuses, as the API shows and filters them. The command line reads the same lists.

import { RESULT_STATUSES } from "@toolplane/protocol";

export const CALL_STATUSES = ["queued", "running", "awaiting_approval", ...RESULT_STATUSES] as const;
export const TURN_STATUSES = ["queued", "dispatched", "running", "suspended", ...RESULT_STATUSES] as const;
/** Of what was sent to a webhook. */
export const DELIVERY_STATUSES = ["pending", "delivered", "dead"] as const;

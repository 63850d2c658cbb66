// @toolplane/protocol/v1r3: the boundary adapter for the older wire.

export {
  type AdaptedMessage,
  adaptLegacyMessage,
  adaptLegacyRequest,
  currentSubject,
  isLegacySubject,
  LEGACY_VERSION,
  type LegacyMessage,
  liftIdentity,
  lowerCommand,
} from "./legacy/v1r3.ts";

// @toolplane/protocol/v1r3: the boundary adapter for the older wire.

export {
  adaptLegacyRequest,
  currentSubject,
  isLegacySubject,
  LEGACY_VERSION,
  lowerCommand,
} from "./legacy/v1r3.ts";

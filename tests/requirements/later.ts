// The rules of parts that are not built yet, one file per part.

import { rules as agents } from "./later/agents.ts";
import { rules as cli } from "./later/cli.ts";
import { rules as console } from "./later/console.ts";
import { rules as hosts } from "./later/hosts.ts";
import { rules as httpApi } from "./later/http-api.ts";
import { rules as httpBridge } from "./later/http-bridge.ts";
import { rules as mcp } from "./later/mcp.ts";
import { rules as nats } from "./later/nats.ts";
import { rules as pmo } from "./later/pmo.ts";
import { rules as sdk } from "./later/sdk.ts";
import { rules as security } from "./later/security.ts";
import { rules as turnWatchdogs } from "./later/turn-watchdogs.ts";
import { rules as uiActions } from "./later/ui-actions.ts";
import type { Rule } from "./rule.ts";

export const rules: readonly Rule[] = [...agents, ...cli, ...console, ...hosts, ...httpApi, ...httpBridge, ...mcp, ...nats, ...pmo, ...sdk, ...security, ...turnWatchdogs, ...uiActions];

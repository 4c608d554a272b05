// Pulumi's runner loads TypeScript by ts-node. This module is none, so Node itself loads index.ts and strips its types.
import "./index.ts";

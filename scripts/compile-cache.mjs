// Preloaded before the program (nodeargs in Pulumi.yaml) and before `fleet`: Node keeps what it has compiled for the next run.
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Beside the packages, not in the shared temporary folder, where another user could leave code for us to run.
enableCompileCache(join(import.meta.dirname, "..", "node_modules", ".cache", "compile"));

import { serve } from "@crossplane-org/function-sdk-typescript";
import { handler } from "./handler.ts";

serve(handler, { name: "function-spoke" });

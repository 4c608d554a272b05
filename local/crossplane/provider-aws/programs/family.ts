import { runFamilyProgram } from "../program.ts";

await runFamilyProgram();

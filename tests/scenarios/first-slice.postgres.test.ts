import { firstSlice } from "./first-slice.contract.ts";

firstSlice("postgres");

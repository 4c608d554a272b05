import { randomUUID } from "node:crypto";
import { type HttpResponse, jsonResponse } from "./http.ts";

/** An exception of an API that the gateway answers itself. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  /** Members beside the message, such as clusterName. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, status: number, message: string, members: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
    this.members = members;
  }
}

/** Makes exceptions of an API, whose HTTP statuses are these. */
export const exceptionsOf =
  <Code extends string>(statuses: Readonly<Record<Code, number>>) =>
  (code: Code) =>
  (message: string, members: Readonly<Record<string, unknown>> = {}): ApiError =>
    new ApiError(code, statuses[code], message, members);

/** An exception in the form of the REST JSON protocol. */
export function errorResponse(error: ApiError): HttpResponse {
  return jsonResponse(
    error.status,
    { message: error.message, ...error.members },
    {
      "x-amzn-errortype": error.code,
      "x-amzn-requestid": randomUUID(),
    },
  );
}

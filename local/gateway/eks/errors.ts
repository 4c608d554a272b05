import { randomUUID } from "node:crypto";
import { type HttpResponse, jsonResponse } from "../aws/http.ts";

/** The exceptions of the EKS API that the gateway raises, with their HTTP status. */
const STATUS = {
  InvalidParameterException: 400,
  InvalidRequestException: 400,
  ResourceLimitExceededException: 400,
  ResourceNotFoundException: 404,
  NotFoundException: 404,
  ResourceInUseException: 409,
} as const;

type EksErrorCode = keyof typeof STATUS;

/** An exception of the EKS API. */
export class EksError extends Error {
  readonly code: EksErrorCode;
  /** Members beside the message, such as clusterName. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: EksErrorCode, message: string, members: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = code;
    this.code = code;
    this.members = members;
  }
}

const exception =
  (code: EksErrorCode) =>
  (message: string, members: Readonly<Record<string, unknown>> = {}): EksError =>
    new EksError(code, message, members);
export const invalidParameter = exception("InvalidParameterException");
export const invalidRequest = exception("InvalidRequestException");
export const notFound = exception("ResourceNotFoundException");
export const inUse = exception("ResourceInUseException");
/** Of calls that name a resource by its ARN. */
export const noSuchArn = exception("NotFoundException");
export const limitExceeded = exception("ResourceLimitExceededException");
/** For what AWS has and the gateway does not. */
export const notServed = (what: string, instead: string): EksError =>
  invalidParameter(`${what} is not served by the embedded cloud: ${instead}`);

/** An exception in the form of the REST JSON protocol. */
export function eksErrorResponse(error: EksError): HttpResponse {
  return jsonResponse(
    STATUS[error.code],
    { message: error.message, ...error.members },
    {
      "x-amzn-errortype": error.code,
      "x-amzn-requestid": randomUUID(),
    },
  );
}

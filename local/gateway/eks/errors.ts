import { type ApiError, exceptionsOf } from "../aws/errors.ts";

/** The exceptions of the EKS API that the gateway raises, with their HTTP status. */
const exception = exceptionsOf({
  InvalidParameterException: 400,
  InvalidRequestException: 400,
  ResourceLimitExceededException: 400,
  ResourceNotFoundException: 404,
  NotFoundException: 404,
  ResourceInUseException: 409,
});

export const invalidParameter = exception("InvalidParameterException");
export const invalidRequest = exception("InvalidRequestException");
export const notFound = exception("ResourceNotFoundException");
export const inUse = exception("ResourceInUseException");
/** Of calls that name a resource by its ARN. */
export const noSuchArn = exception("NotFoundException");
export const limitExceeded = exception("ResourceLimitExceededException");
/** For what AWS has and the gateway does not. */
export const notServed = (what: string, instead: string): ApiError =>
  invalidParameter(`${what} is not served by the embedded cloud: ${instead}`);

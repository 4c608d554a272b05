import { type ApiError, exceptionsOf } from "../aws/errors.ts";

/** The exceptions of the API that the gateway raises, with their HTTP status. */
const exception = exceptionsOf({
  ValidationException: 400,
  ServiceQuotaExceededException: 402,
  ResourceNotFoundException: 404,
  ConflictException: 409,
});

/** What an exception is about. */
type ResourceType = "workspace" | "rulegroupsnamespace" | "alertmanagerdefinition" | "loggingconfiguration";

const about = (resourceType: ResourceType, resourceId: string) => ({ resourceType, resourceId });

export const invalid = (message: string): ApiError =>
  exception("ValidationException")(message, { reason: "FIELD_VALIDATION_FAILED" });
export const unknownOperation = (message: string): ApiError =>
  exception("ValidationException")(message, { reason: "UNKNOWN_OPERATION" });
/** For what nothing in the request could put right. */
export const notPossible = (message: string): ApiError =>
  exception("ValidationException")(message, { reason: "OTHER" });
export const notFound = (type: ResourceType, id: string, message: string): ApiError =>
  exception("ResourceNotFoundException")(message, about(type, id));
export const conflict = (type: ResourceType, id: string, message: string): ApiError =>
  exception("ConflictException")(message, about(type, id));
export const quotaExceeded = (quotaCode: string, message: string): ApiError =>
  exception("ServiceQuotaExceededException")(message, {
    ...about("workspace", ""),
    serviceCode: "aps",
    quotaCode,
  });

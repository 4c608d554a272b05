import type { HttpResponse } from "../aws/http.ts";

/** An error of the STS API, with AWS's code. */
export class StsError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = "StsError";
    this.code = code;
    this.status = status;
  }
}

/** An error in the form of the Query protocol, which STS speaks. */
export function stsErrorResponse(error: StsError): HttpResponse {
  return {
    status: error.status,
    headers: { "content-type": "text/xml" },
    body:
      '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>' +
      `<Code>${escapeXml(error.code)}</Code><Message>${escapeXml(error.message)}</Message></Error></ErrorResponse>`,
  };
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

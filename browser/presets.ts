import { readRaw as readRawEvent } from '../contract/tokens.ts';
import type { TokensOf } from './settings.ts';

/** Which events of other streams than OpenAI's chat completions bear a token, for the option `tokensOf`. */
export { readAnthropic, readOpenAiChat, readOpenAiResponses } from '../contract/tokens.ts';

/** Events whose data is the text itself. */
export const readRaw: TokensOf = /* @__PURE__ */ Object.assign(
  (event: Parameters<TokensOf>[0]) => readRawEvent(event),
  {
    cleanEnd: true,
  },
);

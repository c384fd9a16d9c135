import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

export interface Prompt {
  readonly model: string;
  /** Between two tokens; 0 gives way to other work, and no more. */
  readonly pauseMs: number;
  readonly tokens: number;
}

/**
 * A chat backend as small as it can be, so that nothing hides what the middleware adds: it parses the request, then writes one
 * chunk a token, each made anew, as OpenAI's API would send it. The pause between tokens is the engine's.
 */
export async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const { model, pauseMs, tokens }: Prompt = JSON.parse(Buffer.concat(chunks).toString());
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  for (let token = 0; token < tokens; token++) {
    if (pauseMs > 0) await wait(pauseMs);
    else await turn();
    send(res, model, { choices: [{ index: 0, delta: { content: ` token${token}` }, finish_reason: null }] });
  }
  send(res, model, {
    choices: [],
    usage: { prompt_tokens: 812, completion_tokens: tokens, total_tokens: 812 + tokens },
  });
  res.end('data: [DONE]\n\n');
}

function send(res: ServerResponse, model: string, part: object): void {
  const chunk = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_700_000_000, model, ...part };
  res.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

import type { Stage } from '../../contract/stages.ts';

/** What usually makes a stage slow, what good looks like, and how easily it is mended. */
export const STAGE_TEXTS: Record<Stage, string> = {
  gateway:
    'Time that nginx held the request beside its upstream. Usual causes: retries against a dead upstream, new connections for every request, a request body buffered to disk. ' +
    'Good: p95 under 50 ms. If it is more, keepalive to the upstream and proxy_request_buffering off: easily mended, a line of configuration.',
  receive:
    "Until the request is wholly received. Usual causes: long prompts over slow uplinks, large attachments. It is outside the server's TTFT. Good: p95 under 100 ms. " +
    'If it is more, send references instead of contents and compress bodies: mended with some work in the client.',
  preprocess:
    'Parsing, checks, prompt building and tokenising. Usual causes: retrieval or a database on the way, moderation in line, a tokeniser on the event loop. Good: p95 under 300 ms. ' +
    'If it is more, look at the sub-stages: running them side by side or from a cache is ordinary work of a day, so begin here.',
  kv_load:
    'Until the KV cache is ready. Usual causes: prefix misses after a restart or a changed system prompt, a cache offloaded to slow memory. Good: p95 under 150 ms. If it is more, put what varies ' +
    'at the end of the prompt and keep a user on one backend: mended with some care; faster storage takes money.',
  queue:
    'Waiting for a slot of the engine. Usual causes: more requests than slots, a lost backend, long answers that hold their slots. Good: p95 under 100 ms. If it is more, ' +
    'add backends or limit users; quickly mended with capacity, otherwise by sending bulk work elsewhere.',
  first_token:
    'The first forward pass: the prefill. Usual causes: long prompts, large batches, a GPU that is throttled. Good: p95 under 400 ms. If it is more, use chunked prefill, shorter prompts or ' +
    'smaller batches: a trade against throughput. A faster model or GPU is the hard way.',
  serialize:
    'From the first token to bytes. Usual causes: a blocked event loop, garbage collection, a huge first frame. Good: p95 under 5 ms. If it is more, profile the process: ' +
    'mostly easily mended, by moving the work that blocks out of it.',
  send:
    'Until the bytes are with the network stack. Usual causes: compression or buffering of event streams in the process, back pressure of a slow reader. Good: p95 under 5 ms. ' +
    'If it is more, flush after each event and leave event streams uncompressed: easily mended.',
  network:
    'What remains of the hidden tax: the way there and back, handshakes, proxies. Usual causes: distance, new connections, a proxy that buffers. Good: p95 under 200 ms. If it is more, reuse connections ' +
    'and turn buffering off, which is easy; a region nearer to the users is not.',
  render:
    'From the arrival of the first token to its paint, after the TTFT. Usual causes: a page that does much per token, hydration still going on. Good: p95 under 50 ms. ' +
    'If it is more, batch updates per frame and move highlighting off the main thread: mended with work in the page.',
};

/**
 * Unread bytes up to which a body is read ahead of the app: enough for several hundred tokens. The time of arrival is that of
 * `read()`, so an app that reads late would be taken for a slow network if nobody read ahead; and an app that does not read at
 * all must hold its server back, as it would without us. Browsers and sockets buffer more than this by themselves.
 */
export const READ_AHEAD_BYTES = 65_536;

/**
 * Gives a stream of the same kind (of bytes, or of whatever it holds) and the same chunks, that ends, fails and is cancelled as
 * the given one. `tee()` would not do: its faster half never waits for the slower one.
 *
 * @param onBytes called as bytes arrive, whether or not the app has read what came before them
 * @param onOver called, perhaps more than once, at the clean end, when the app cancels (`abort`), and at once when reading fails;
 *   says whether it failed because the app has aborted it
 * @throws TypeError when somebody is reading the body already
 */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  onBytes: (bytes: Uint8Array) => void,
  onOver: (how: 'end' | 'abort' | 'break', error?: unknown) => boolean,
): ReadableStream<Uint8Array> {
  let isByteStream: boolean | undefined;
  try {
    // Nothing else tells the kind. A byte stream hands its buffers on, so only such a one is made into one.
    body.getReader({ mode: 'byob' }).releaseLock();
    isByteStream = true;
  } catch {}
  const reader = body.getReader();
  let failed: boolean | undefined;
  let failure: unknown;
  // Noticed also while nobody reads.
  reader.closed.catch((error) => onOver('break', error));

  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array> | ReadableByteStreamController): Promise<void> {
      if (!failed) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            onOver('end');
            controller.close();
            // A reader with a buffer of its own waits for an answer even to the end.
            (controller as ReadableByteStreamController).byobRequest?.respond(0);
          } else {
            try {
              onBytes(value);
            } catch {
              // A chunk that is no bytes, which only a response made by hand can hold.
            }
            controller.enqueue(value as Uint8Array<ArrayBuffer>);
          }
          return;
        } catch (error) {
          failed = true;
          failure = error;
        }
      }
      // An error empties the queue. What has arrived before a break is the app's; after an abort it wants no more of it.
      if (onOver('break', failure) || controller.desiredSize === READ_AHEAD_BYTES) throw failure;
    },
    cancel(reason: unknown): Promise<void> {
      onOver('abort');
      return reader.cancel(reason);
    },
  };
  return new ReadableStream<Uint8Array>(
    { ...source, type: isByteStream ? 'bytes' : undefined } as UnderlyingDefaultSource<Uint8Array>,
    {
      highWaterMark: READ_AHEAD_BYTES,
      ...(!isByteStream && { size: (chunk) => chunk?.byteLength ?? 1 }),
    } as QueuingStrategy<Uint8Array>,
  );
}

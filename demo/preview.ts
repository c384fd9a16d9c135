import { type PreviewOptions, startPreview } from '../preview/server.ts';
import { runAsChild } from './childProcess.ts';

/** The process of the preview: drawing shall not disturb what is measured. */
export interface PreviewReady {
  readonly url: string;
}

await runAsChild<PreviewOptions, PreviewReady>(async (options) => {
  const { url, stop } = await startPreview(options);
  return { ready: { url }, stop };
});

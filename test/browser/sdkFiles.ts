import path from 'node:path';
import { buildEntries, buildSingleFile } from '../../browser/build.ts';

/** The built SDK: text of each file, by the path at which a page finds it. */
export type SdkFiles = ReadonlyMap<string, string>;

export async function buildSdk(): Promise<SdkFiles> {
  const files = new Map<string, string>();
  for (const { outputFiles } of [await buildEntries({ write: false }), await buildSingleFile({ write: false })]) {
    for (const { path: file, text } of outputFiles ?? []) files.set(`/sdk/${path.basename(file)}`, text);
  }
  return files;
}

/** All entries in one file, for a `<script type="module">` without a bundler. */
export { coalesce } from './coalesce.ts';
export { observeEventSource } from './eventSource.ts';
export * from './index.ts';
export { pace } from './pace.ts';
export * from './presets.ts';

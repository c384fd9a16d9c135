/** What a Node application adds: stamps and sub-stages of its streamed answers, posted to the ingest in the background. */
export { currentTraceId, describe, factsEvent, mark, span } from './currentRequest.ts';
export type { Description } from './describedFields.ts';
export { type FastifyRequestFacts, type FastifyTiming, type FastifyTimingOptions, fastifyTiming } from './fastify.ts';
export { type KoaContext, type KoaTiming, type KoaTimingOptions, koaTiming } from './koa.ts';
export { type Observation, type ObservedRequest, type ObserveOptions, observationOf, observe } from './observe.ts';
export type { MarkedStage } from './requestFacts.ts';
export type { SenderStats } from './sender.ts';
export { commentedPg, type PgQueryable, traceComment, withTraceComment } from './sqlComments.ts';
export { type TimingHandler, type TimingOptions, timing } from './timing.ts';
export { TraceCommentPlugin } from './traceCommentPlugin.ts';

import { afterAll, beforeAll, test } from 'vitest';
import { type GatewayStage, startGatewayStage } from '../browser/gatewayStage.ts';
import { expectOneRecord, expectTimesToAgree, INTERRUPTIONS } from '../browser/gatewayStreams.ts';
import { startFastApi } from './startFastApi.ts';

let stage: GatewayStage;
beforeAll(async () => {
  stage = await startGatewayStage(startFastApi);
});
afterAll(() => stage?.stop());

test('200 streams of the FastAPI backend through nginx', { retry: 1 }, () => expectTimesToAgree(stage));

test.each(INTERRUPTIONS)('a stream of the FastAPI backend that is %s', (interruption) =>
  expectOneRecord(stage, interruption),
);

import { runCommand } from '../commandLine/command.ts';
import { createBeaconSender } from './beaconSender.ts';
import { requiredVariable, stopped } from './containerPart.ts';
import { startTraffic } from './traffic.ts';

/** Simulated users in a container of their own (compose.yaml, profile demo): chat requests and beacons both go through the gateway. */
await runCommand(
  {
    name: 'node --import tsx demo/trafficMain.ts',
    summary: 'Sends simulated chat requests and their beacons through a gateway, until it is stopped.',
    options: {},
    environment: 'GATEWAY_URL; RATE: requests a second (5); SEED (7)',
    exitCodes: { 0: 'stopped', 2: 'a variable is missing' },
  },
  async () => {
    const gatewayUrl = requiredVariable('GATEWAY_URL');
    const traffic = startTraffic({
      seed: Number(process.env['SEED'] ?? 7),
      ratePerSecond: Number(process.env['RATE'] ?? 5),
      runForMs: null,
      gatewayUrl,
      send: createBeaconSender(gatewayUrl).send,
    });
    await stopped();
    traffic.stopStarting();
    await traffic.drain(0);
    return 0;
  },
);

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CHECKS, type CheckName } from '../../doctor/examine.ts';
import { freePort } from './freePort.ts';
import {
  GRAFANA_TOKEN,
  type Installation,
  openInstallation,
  openQuickService,
  runDoctor,
  settle,
  startScraping,
} from './installation.ts';
import { startGrafana, startWrongClock } from './standIns.ts';

let installation: Installation;
const planted: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  installation = await openInstallation();
});
afterEach(async () => {
  for (const remove of planted.splice(0).reverse()) await remove();
});
afterAll(async () => {
  await installation?.stop();
});

/** Stops with the test. */
function plant<T extends { stop(): Promise<unknown> }>(part: T): T {
  planted.push(() => part.stop());
  return part;
}

const closed = async () => `http://127.0.0.1:${await freePort()}`;

/** Examines the installation with something else in the place of what these options name. */
async function examine(instead: Readonly<Record<string, string>> = {}) {
  const { code, findings } = await runDoctor({ ...installation.options, ...instead }, '--json');
  return { code, findings, faults: findings.filter(({ verdict }) => verdict === 'fault') };
}

/** That it finds this fault, with its mend, and no other. */
async function expectFault(check: CheckName, what: RegExp, advice: RegExp, instead: Readonly<Record<string, string>>) {
  const { code, faults } = await examine(instead);
  expect(faults).toEqual([
    { check, verdict: 'fault', what: expect.stringMatching(what), advice: expect.stringMatching(advice) },
  ]);
  expect(code).toBe(1);
}

test('a healthy installation has no fault, and everything of it was looked at', async () => {
  const { code, findings, faults } = await examine();
  expect(faults).toEqual([]);
  expect(code).toBe(0);
  // `app` speaks only when the application is not reached.
  expect(findings.map(({ check }) => check).sort()).toEqual(CHECKS.filter((check) => check !== 'app').sort());
  expect(findings.filter(({ verdict }) => verdict !== 'good')).toEqual([]);
});

describe('ten planted faults', () => {
  test('1. a wrong token', () =>
    expectFault('token', /token is refused/, /INGEST_TOKEN/, { token: 'another-token-altogether' }));

  test('2. an origin that is not allowed', () =>
    expectFault('origin', /may not post beacons/, /BEACON_ORIGINS/, { origin: 'https://elsewhere.example' }));

  test('3. a proxy that collects the stream', () =>
    expectFault('buffering', /arrive together/, /proxy_buffering off/, {
      app: `${installation.nginxUrl}/collecting/chat`,
    }));

  test('4. a proxy that takes the header away', () =>
    expectFault('header', /a proxy between takes it away/, /proxy_hide_header/, {
      app: `${installation.nginxUrl}/stripping/chat`,
    }));

  test('5. a clock that is an hour off', async () => {
    const proxy = plant(await startWrongClock(installation.service.publicUrl, 3_600_000));
    await expectFault('clock', /(3599|3600) s ahead/, /time service/, { url: proxy.url });
  });

  test('6. a target of Prometheus that is down', async () => {
    const prometheus = plant(await startScraping(`127.0.0.1:${await freePort()}`));
    await expectFault('prometheus', /cannot scrape .*refused/, /ADMIN_HOST/, { prometheus: prometheus.url });
  });

  test('7. a wrong port', async () => {
    await expectFault('public port', /nothing listens there/, /right port/, { url: await closed() });
  });

  test('8. halves under different ids', async () => {
    const service = plant(await openQuickService());
    await settle(service, 12, false);
    await expectFault('coverage', /^0 % .*\(0 of 12\)/, /under different ids/, {
      url: service.publicUrl,
      admin: service.adminUrl,
      database: service.databaseUrl,
      prometheus: installation.options['prometheus']!,
    });
  });

  test('9. a data source that Grafana lacks', async () => {
    const grafana = plant(await startGrafana({ token: GRAFANA_TOKEN, sources: ['prometheus', 'loki', 'tempo'] }));
    await expectFault('grafana', /lacks the data source PostgreSQL/, /provisioning\/grafana\/datasources/, {
      grafana: grafana.url,
    });
  });

  test('10. a collector that is not reached', async () => {
    await expectFault('collector', /nothing listens there/, /OTEL_EXPORTER_OTLP_ENDPOINT/, {
      collector: await closed(),
    });
  });
});

describe('and more', () => {
  test('an application without the middleware is told from a proxy that strips', () =>
    expectFault('header', /no record of this request/, /middleware/, { app: `${installation.nginxUrl}/shipped/bare` }));

  test('a proxy that compresses the stream', () =>
    expectFault('buffering', /arrive together/, /do not compress/, {
      app: `${installation.nginxUrl}/compressing/chat`,
    }));

  test('an application that is not reached', async () => {
    await expectFault('app', /nothing listens there/, /--app/, { app: `${await closed()}/chat` });
  });

  test('an address of the application that is not there', async () => {
    await expectFault('header', /answers 404, not a stream/, /--app-body/, { app: `${installation.nginxUrl}/chat` });
  });

  test('an address that is not the service', async () => {
    const { url } = plant(await startGrafana({ token: GRAFANA_TOKEN }));
    await expectFault('public port', /not this service/, /own address/, { url });
  });

  test('the public port in the place of the admin port', async () => {
    const { publicUrl } = installation.service;
    await expectFault('admin port', /are not this service's metrics/, /on the admin port/, { admin: publicUrl });
  });

  test('a Prometheus without the rules', async () => {
    const host = new URL(installation.service.adminUrl).host;
    const prometheus = plant(await startScraping(host, '/nonexistent/*.yaml'));
    await expectFault('prometheus', /none of its rules/, /rule_files/, { prometheus: prometheus.url });
  });

  test('a Prometheus that scrapes something else, and something that is no Prometheus', async () => {
    await expectFault('prometheus', /is no Prometheus/, /--prometheus/, {
      prometheus: installation.options['grafana']!,
    });
  });

  test('a data source that does not work, a missing dashboard, a refused token', async () => {
    const broken = plant(await startGrafana({ token: GRAFANA_TOKEN, broken: 'pg' }));
    await expectFault('grafana', /PostgreSQL does not work: connection refused/, /grafana_reader/, {
      grafana: broken.url,
    });
    const empty = plant(await startGrafana({ token: GRAFANA_TOKEN, dashboards: ['first-token'] }));
    await expectFault('grafana', /lacks the dashboards Where and when/, /provisioning/, { grafana: empty.url });
    const locked = plant(await startGrafana({ token: 'another' }));
    await expectFault('grafana', /refuses to list/, /GRAFANA_TOKEN/, { grafana: locked.url });
  });

  test('a database that is not there', async () => {
    const database = `postgres://ingest:x@127.0.0.1:${await freePort()}/firsttoken`;
    await expectFault('database', /nothing listens there/, /DATABASE_URL/, { database });
  });
});

test('people get a line for each thing, the mend below it, and colours only where they are wanted', async () => {
  const { code, output } = await runDoctor({ ...installation.options, token: 'another-token-altogether' });
  expect(code).toBe(1);
  expect(output).toMatch(/^FAULT {2}token +The write token is refused\.\n +It must be one of/m);
  expect(output).toMatch(/^1 fault; 14 good, 0 not looked at\.$/m);
  expect(output).not.toContain('\x1b');
});

test('what is not named is not looked at, and it says how to name it', async () => {
  const { url, admin, token } = installation.options as Record<'url' | 'admin' | 'token', string>;
  const { output } = await runDoctor({ url, admin, token });
  expect(output).toMatch(/No origin of pages is named: not looked at\. --origin <origin>/);
  expect(output).toMatch(/No Grafana is named: not looked at\. --grafana <address>/);
});

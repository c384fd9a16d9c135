/** The demo's chat page: measured by the SDK, smoothed by its two transforms, and showing what both say. */
import { coalesce } from '../../browser/coalesce.ts';
import { configure, flush, tracedFetch } from '../../browser/index.ts';
import { pace } from '../../browser/pace.ts';
import type { Beacon } from '../../contract/beacon.ts';
import { drawWeighted } from '../random.ts';
import { readDeltas } from './deltas.ts';
import type { PageSettings } from './pageSettings.ts';
import { showBeacon, showDelays, showGaps, showTtft } from './show.ts';

const element = <E extends Element>(selector: string): E => document.querySelector<E>(selector)!;
const settings = JSON.parse(element('#settings').textContent!) as PageSettings;
const answer = element<HTMLElement>('#answer');
const form = element<HTMLFormElement>('form');
const scenario = element<HTMLSelectElement>('[name=scenario]');
const askButton = element<HTMLButtonElement>('[name=ask]');
const stopButton = element<HTMLButtonElement>('[name=stop]');

const PAUSE_MS = { least: 500, most: 2_500 };
/** The buffering proxy is nginx's location for it, where there is an nginx. */
const BUFFERED = 'buffering_proxy';

configure({
  endpoint: settings.endpoint,
  about: { route: '/api/chat', region: 'eu-west' },
  onBeacon: (beacon: Beacon) => showBeacon(beacon),
});

for (const { name } of settings.scenarios) scenario.add(new Option(name.replaceAll('_', ' '), name));
const tell = (): void => {
  element('#about').textContent = settings.scenarios.find(({ name }) => name === scenario.value)?.about ?? '';
};
scenario.addEventListener('change', tell);
tell();

let stopping = new AbortController();
stopButton.addEventListener('click', () => stopping.abort());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(element<HTMLInputElement>('[name=prompt]').value, scenario.value);
});

let asking: Promise<void> = Promise.resolve();
let answers = 0;

function ask(prompt: string, name: string): Promise<void> {
  asking = readAnswer(prompt, name).catch((error: unknown) => {
    answer.append(`\n(${error instanceof Error ? error.message : error})`);
  });
  return asking;
}

async function readAnswer(prompt: string, name: string): Promise<void> {
  stopping = new AbortController();
  askButton.disabled = true;
  stopButton.disabled = false;
  answer.textContent = '';
  answer.classList.add('waiting');
  const startedAt = performance.now();
  const arrivals: number[] = [];
  try {
    const prefix = name === BUFFERED ? settings.collectingPrefix : '';
    const response = await tracedFetch(
      `${prefix}/api/chat`,
      {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-Demo-Request': String(Math.floor(Math.random() * 2 ** 31)),
          'X-Demo-Scenario': name,
        },
        body: JSON.stringify({
          stream: true,
          stream_options: { include_usage: true, continuous_usage_stats: name === 'speculative' },
          messages: [{ role: 'user', content: prompt }],
        }),
        signal: stopping.signal,
      },
      { about: { prompt_chars: prompt.length } },
    );
    if (!response.ok || !response.body) throw new Error(`the backend answered ${response.status}`);
    const merging = coalesce();
    const pacing = pace<string>();
    const onToken = (at: number): void => {
      arrivals.push(at);
      if (arrivals.length === 1) showTtft(at - startedAt);
      showGaps(arrivals);
    };
    const reader = response.body.pipeThrough(readDeltas(onToken)).pipeThrough(merging).pipeThrough(pacing).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) answer.append(next.value);
    showDelays([merging.addedDelay, pacing.addedDelay]);
    answers++;
  } finally {
    answer.classList.remove('waiting');
    askButton.disabled = false;
    stopButton.disabled = true;
  }
}

/** Asks again and again, as its users would: a kind of request by its weight, then a pause. */
async function askRepeatedly(signal: AbortSignal): Promise<void> {
  const kinds = settings.scenarios.map(({ name, weight }) => [name, weight] as const);
  while (!signal.aborted) {
    scenario.value = drawWeighted(Math.random, kinds);
    tell();
    await ask('Why was the first token late?', scenario.value);
    const pauseMs = PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** For who drives the page: begins to ask, and ends with all reported. */
const driven = new AbortController();
Object.assign(globalThis, {
  startAsking: () => void askRepeatedly(driven.signal),
  /** @returns answers that were read to their end */
  finish: async (): Promise<number> => {
    driven.abort();
    await asking;
    await flush();
    return answers;
  },
});

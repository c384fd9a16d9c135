import { PICKS_BEYOND_HOURS, REQUEST_PICKS } from '../../contract/requestPicks.ts';

/** At the end of a description. */
export const OF_A_SAMPLE = `Beyond ${PICKS_BEYOND_HOURS} hours it is of a sample: up to ${REQUEST_PICKS.sample.perHour} requests of each closed hour, weighed by its traffic, so that numbers are estimates.`;

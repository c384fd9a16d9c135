import path from 'node:path';

/** A program of the stack that is built from its published module. */
export interface BuiltProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** The go command's hash of the module's content: what is built is what was looked at. */
  readonly sum: string;
  /** The package of its `main`, within the module. */
  readonly main: string;
  readonly tags?: string;
  /** Variables that its makefile sets while linking. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Files that its makefile generates and the module lacks; pages that no test opens. */
  readonly generated?: Readonly<Record<string, string>>;
}

/** Versions of Prometheus and Alertmanager are those of compose.yaml; Jaeger stands in Tempo's place, VictoriaLogs in Loki's. */
export const PROGRAMS: readonly BuiltProgram[] = [
  {
    name: 'victoria-logs',
    module: 'github.com/VictoriaMetrics/VictoriaLogs',
    version: 'v1.52.1',
    sum: 'h1:B83xu4usTNPrpsFZFH/Dei3nWIsQizIeSRghFxj4ZJo=',
    main: './app/victoria-logs',
  },
  {
    name: 'alertmanager',
    module: 'github.com/prometheus/alertmanager',
    version: 'v0.32.1',
    sum: 'h1:BQ3jHXNq2A7VSD9Kh0Qx+kXbifNbHSDuKVbMmdRHHJ0=',
    main: './cmd/alertmanager',
    generated: { 'ui/app/dist/index.html': '<!doctype html><title>Alertmanager</title>\n' },
  },
  {
    name: 'prometheus',
    module: 'github.com/prometheus/prometheus',
    // Prometheus 3.14.0: its module is numbered 0.3xx.
    version: 'v0.314.0',
    sum: 'h1:YjsimqsIi6/mOtzZcrPEYUALO6zpfaht9O5sXqDz2vg=',
    main: './cmd/prometheus',
    // Without the clients of two dozen clouds: targets are written down, and asked of DNS.
    tags: 'remove_all_sd,enable_dns_sd',
    variables: { 'github.com/prometheus/common/version.Version': '3.14.0' },
  },
  {
    name: 'jaeger',
    module: 'github.com/jaegertracing/jaeger',
    version: 'v1.76.0',
    sum: 'h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=',
    main: './cmd/jaeger',
  },
];

/** The collector is put together here, from the components that the shipped configuration names. */
export const COLLECTOR = path.join(import.meta.dirname, 'collector');

// Firsttoken as a mixin, https://monitoring.mixins.dev: the generated files, for pipelines that import Jsonnet. Needs jsonnet 0.18 or newer.
//
//   (import 'firsttoken/dashboards/mixin.libsonnet') { _config+:: { severities: { page: 'critical', ticket: 'warning' } } }
local dashboards = [
  import '../provisioning/grafana/dashboards/first-token.json',
  import '../provisioning/grafana/dashboards/where-and-when.json',
  import '../provisioning/grafana/dashboards/slow-requests.json',
  import '../provisioning/grafana/dashboards/request.json',
  import '../provisioning/grafana/dashboards/stages.json',
  import '../provisioning/grafana/dashboards/variants.json',
  import '../provisioning/grafana/dashboards/gpu-backend.json',
  import '../provisioning/grafana/dashboards/ingest-health.json',
];
local groups =
  std.parseYaml(importstr '../provisioning/prometheus/rules/firsttoken.yaml').groups +
  std.parseYaml(importstr '../provisioning/prometheus/rules-paused/firsttoken.yaml').groups;

// The addresses in the generated files, which _config replaces.
local builtIn = { grafanaUrl: 'http://localhost:3000', runbookUrl: 'docs/runbook.md' };

local isAlert(rule) = std.objectHas(rule, 'alert');
local isPaused(group) = std.endsWith(group.name, '-paused');

{
  _config+:: {
    grafanaUrl: builtIn.grafanaUrl,
    runbookUrl: builtIn.runbookUrl,
    // Tags of every dashboard.
    tags: ['firsttoken'],
    refresh: null,
    // What the label severity says.
    severities: { page: 'page', ticket: 'ticket' },
    // Also the alerts that ship paused.
    includePaused: false,
  },

  local config = self._config,
  local readdressed(text) = std.foldl(
    function(done, name) std.strReplace(done, builtIn[name], config[name]),
    ['grafanaUrl', 'runbookUrl'],
    text
  ),

  grafanaDashboards+:: {
    [dashboard.uid + '.json']: std.parseJson(readdressed(std.manifestJsonMinified(dashboard))) + {
      tags: config.tags,
      [if config.refresh != null then 'refresh']: config.refresh,
    }
    for dashboard in dashboards
  },

  prometheusRules+:: {
    groups+: [
      group { rules: [rule for rule in group.rules if !isAlert(rule)] }
      for group in groups
      if std.length([rule for rule in group.rules if !isAlert(rule)]) > 0
    ],
  },

  prometheusAlerts+:: {
    groups+: [
      group {
        rules: [
          rule {
            labels+: { severity: config.severities[rule.labels.severity] },
            annotations+: {
              runbook_url: std.strReplace(super.runbook_url, builtIn.runbookUrl, config.runbookUrl),
              dashboard_url: std.strReplace(super.dashboard_url, builtIn.grafanaUrl, config.grafanaUrl),
            },
          }
          for rule in group.rules
          if isAlert(rule)
        ],
      }
      for group in groups
      if std.length([rule for rule in group.rules if isAlert(rule)]) > 0 && (config.includePaused || !isPaused(group))
    ],
  },
}

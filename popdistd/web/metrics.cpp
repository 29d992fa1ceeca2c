// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/metrics.h"

#include <map>
#include <string>
#include <utility>

#include "popdistd/web/answers.h"
#include "popdistd/web/metric_builder.h"

namespace pop::popdistd {
namespace {

constexpr const char* kCodes[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

std::string codeName(int code) {
  return code >= 0 && code < static_cast<int>(std::size(kCodes)) ? kCodes[code] : "UNKNOWN";
}

void addCalls(MetricBuilder& to, const RpcMeters& rpc, const HttpMeters& http) {
  std::uint64_t unauthenticated = 0;
  MetricFamily& requests = to.counter("popdist_rpc_requests_total", "Calls of gRPC that have ended, by how.");
  for (const auto& [key, count] : rpc.requests) {
    const auto& [service, method, code] = key;
    to.put(requests, {{"service", service}, {"method", method}, {"code", codeName(code)}}, count);
    if (code == static_cast<int>(kUnauthenticated)) unauthenticated += count;
  }
  to.oneHistogram("popdist_rpc_seconds", "How long calls of gRPC took that have one answer.", rpc.seconds);
  MetricFamily& answers =
      to.counter("popdist_http_requests_total", "Requests by HTTP that were answered, by HTTP's status.");
  for (const auto& [status, count] : http.answers) to.put(answers, {{"code", std::to_string(status)}}, count);
  MetricFamily& failures =
      to.counter("popdist_auth_failures_total", "Calls rejected because authentication failed.");
  const auto refused = http.answers.find(401);
  to.put(failures, {{"how", "rpc"}}, unauthenticated);
  to.put(failures, {{"how", "http"}}, refused == http.answers.end() ? 0 : refused->second);
}

void addStreams(MetricBuilder& to, const RpcMeters& rpc, const HttpMeters& http) {
  const std::map<std::string, std::string> known{{"Watch", "watch"},
                                                 {"Logs", "logs"},
                                                 {"Attach", "attach"},
                                                 {"Join", "host"},
                                                 {"HoldPartition", "holder"}};
  std::map<std::string, int> open{{"other", 0}, {"http", http.streams}};
  for (const auto& [method, kind] : known) open[kind] = 0;
  for (const auto& [method, count] : rpc.open) {
    const auto kind = known.find(method);
    open[kind == known.end() ? "other" : kind->second] += count;
  }
  MetricFamily& streams = to.gauge("popdist_streams_open", "Open streams, by what they carry.");
  for (const auto& [kind, count] : open) to.put(streams, {{"kind", kind}}, count);
}

void addDaemon(MetricBuilder& to, const Measures& all) {
  to.oneGauge("popdist_leader_epoch", "The number of this life of the daemon: one more at each start.",
              all.core.epoch);
  to.oneHistogram("popdist_loop_lag_seconds", "How much later than due the daemon's loop runs, each second.",
                  all.core.loop_lag);
  MetricFamily& left = to.gauge("popdist_certificate_expiry_seconds",
                                "Until a certificate of the daemon expires; below 0: it has.");
  for (const CertificateMeasures& each : all.certificates)
    to.put(left, {{"file", each.file}}, each.seconds_left);
  to.put(to.gauge("popdist_build_info", "Always 1."), {{"version", all.core.version}}, 1);
}

void addProcess(MetricBuilder& to, const ProcessMeasures& process) {
  to.oneCounter("process_cpu_seconds_total", "CPU time of the daemon, user and system.", process.cpu_seconds);
  to.oneGauge("process_start_time_seconds", "When the daemon was started, since 1970.", process.started);
  to.oneGauge("process_resident_memory_bytes", "Memory of the daemon that is resident.",
              process.resident_bytes);
  to.oneGauge("process_virtual_memory_bytes", "Memory of the daemon that is mapped.", process.virtual_bytes);
  to.oneGauge("process_open_fds", "Open files of the daemon.", process.open_files);
  to.oneGauge("process_max_fds", "How many files the daemon may have open.", process.most_files);
  to.oneGauge("process_threads", "Threads of the daemon.", process.threads);
}

}  // namespace

std::vector<MetricFamily> metricFamilies(const Measures& measures) {
  MetricBuilder to;
  addJobMetrics(to, measures.core);
  addPodMetrics(to, measures.core.pods);
  addCalls(to, measures.rpc, measures.http);
  addStreams(to, measures.rpc, measures.http);
  addDaemon(to, measures);
  addProcess(to, measures.process);
  MetricFamily& left_out =
      to.gauge("popdist_series_left_out",
               "Hosts, users and allocations without series of their own: too many, or with too long names.");
  for (const char* const label : {"host", "user", "allocation"})
    to.put(left_out, {{"label", label}}, to.leftOut(label));
  return to.build();
}

}  // namespace pop::popdistd

// SPDX-License-Identifier: Apache-2.0
// The text of /metrics, and who else names its metrics: the page of them, and the dashboard.
#include "popdistd/web/metrics.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>

#include "common/base/text.h"
#include "tests/testing/file_text.h"
#include "tests/testing/prometheus_text.h"

namespace pop::popdistd {
namespace {

using ::pop::testing::fileText;
using ::pop::testing::MetricsText;
using ::pop::testing::MetricsTextReader;

MetricsText read(const std::vector<MetricFamily>& families) {
  const Result<MetricsText> text = MetricsTextReader::read(prometheusText(families));
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? text.value() : MetricsText();
}

MetricsText textOf(const Measures& measures) {
  return read(metricFamilies(measures));
}

// Each metric has a series.
Measures fullMeasures() {
  Measures all;
  all.core.version = "0.1.0";
  all.core.hosts = {{"h0", v1::HOST_UP, false}, {"h1", v1::HOST_DOWN, true}};
  all.core.pods.ipus = {
      {.cluster = "c", .allocation = "a", .used = 4, .held = 2, .free = 58, .largest_free_block = 32}};
  all.core.pods.user_ipus = {{"alice", 6}};
  all.core.pods.meters.ipu_seconds = {{"alice", 90.5}};
  all.core.store_rows = {{"jobs", 7}};
  all.rpc.requests = {{{"popdist.v1.Controller", "Get", 0}, 5}, {{"popdist.v1.Controller", "Get", 16}, 2}};
  all.rpc.open = {{"Watch", 1}, {"ServerReflectionInfo", 1}};
  all.http = {{{200, 3}, {401, 1}}, 2};
  all.certificates = {{"authority", 3600}, {"certificate", -5}};
  return all;
}

TEST(Metrics, AreStrictText) {
  Measures all = fullMeasures();
  for (const double value : {0.0, 0.0001, 0.3, 1e9}) all.core.commits.seconds.add(value);
  const MetricsText text = textOf(all);
  EXPECT_EQ(text.value("popdist_host_up", {{"host", "h1"}}), 0);
  EXPECT_EQ(text.value("popdist_host_drained", {{"host", "h1"}}), 1);
  EXPECT_EQ(text.value("popdist_ipus", {{"cluster", "c"}, {"allocation", "a"}, {"state", "free"}}), 58);
  EXPECT_EQ(text.value("popdist_rpc_requests_total",
                       {{"service", "popdist.v1.Controller"}, {"method", "Get"}, {"code", "OK"}}),
            5);
  EXPECT_EQ(text.value("popdist_auth_failures_total", {{"how", "rpc"}}), 2);
  EXPECT_EQ(text.value("popdist_streams_open", {{"kind", "other"}}), 1);
  EXPECT_EQ(text.value("popdist_store_commit_seconds_bucket", {{"le", "0.0001"}}), 2);
  EXPECT_EQ(text.value("popdist_store_commit_seconds_count"), 4);
  EXPECT_EQ(text.value("popdist_certificate_expiry_seconds", {{"file", "certificate"}}), -5);
  EXPECT_EQ(text.value("popdist_build_info", {{"version", "0.1.0"}}), 1);
}

TEST(Metrics, KeepNamesThatPeopleHaveMadeUpWhole) {
  Measures all;
  const std::string name = "a\"b\\c\nd}{,=\xc3\xa9";
  all.core.hosts = {{name, v1::HOST_UP, false}};
  all.core.pods.user_ipus = {{"\xff", 1}};
  const MetricsText text = textOf(all);
  EXPECT_EQ(text.value("popdist_host_up", {{"host", name}}), 1);
  EXPECT_EQ(text.families.at("popdist_user_ipus").samples.size(), 1U);
}

TEST(Metrics, AreBounded) {
  Measures all;
  for (int i = 0; i < 5000; ++i) all.core.hosts.push_back({"h" + std::to_string(i), v1::HOST_UP, false});
  all.core.hosts.front().name = std::string(kMostNameBytes + 1, 'h');
  all.core.pods.user_ipus = {{std::string(10'000, 'u'), 1}};
  const MetricsText text = textOf(all);
  EXPECT_EQ(text.value("popdist_hosts", {{"state", "up"}}), 5000);
  EXPECT_EQ(text.families.at("popdist_host_up").samples.size(), kMostNamedSeries - 1);
  EXPECT_EQ(text.value("popdist_series_left_out", {{"label", "host"}}), 5000 - kMostNamedSeries + 1);
  EXPECT_EQ(text.value("popdist_series_left_out", {{"label", "user"}}), 1);
}

TEST(Metrics, TellOfTheProcess) {
  const ProcessMeasures process = measureProcess();
  EXPECT_GT(process.resident_bytes, 1 << 20);
  EXPECT_GE(process.virtual_bytes, process.resident_bytes);
  EXPECT_GT(process.open_files, 2);
  EXPECT_GT(process.most_files, process.open_files);
  EXPECT_GE(process.threads, 1);
  EXPECT_GT(process.started, 1.6e9);
}

struct Row {
  std::string type;
  std::string labels;
  std::string help;
};

// | `name` | type | labels | meaning |
std::map<std::string, Row> rowsOfThePage() {
  static const std::regex kRow(R"(\| `([a-z_]+)` \| (\w+) \|(.*?)\| (.*) \|)");
  std::map<std::string, Row> rows;
  for (const std::string& line : split(fileText(POP_SOURCE_DIR "/docs/reference/metrics.md"), '\n')) {
    std::smatch parts;
    if (!std::regex_match(line, parts, kRow)) continue;
    EXPECT_TRUE(rows.emplace(parts[1], Row{parts[2], parts[3], parts[4]}).second) << "twice: " << line;
  }
  return rows;
}

TEST(Metrics, AreThoseOfTheirPage) {
  const MetricsText text = textOf(fullMeasures());
  std::map<std::string, Row> rows = rowsOfThePage();
  for (const auto& [name, family] : text.families) {
    const auto row = rows.find(name);
    ASSERT_NE(row, rows.end()) << name << " is not on docs/reference/metrics.md";
    EXPECT_EQ(row->second.type, family.type) << name;
    EXPECT_TRUE(row->second.help.starts_with(family.help)) << name << ": " << family.help;
    ASSERT_FALSE(family.samples.empty()) << name;
    for (const auto& [label, value] : family.samples.front().labels)
      EXPECT_TRUE(label == "le" || row->second.labels.find('`' + label + '`') != std::string::npos)
          << name << " has a label " << label;
    rows.erase(row);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << "there is no metric " << name;
}

TEST(Metrics, OfTheDashboardExist) {
  const MetricsText text = textOf(fullMeasures());
  std::set<std::string> names;
  for (const auto& [name, family] : text.families) {
    for (const MetricsText::Sample& sample : family.samples) names.insert(sample.name);
  }
  const std::string dashboard = fileText(POP_SOURCE_DIR "/packaging/popdistd-dashboard.json");
  static const std::regex kName("(popdist|process)_[a-z_]+");
  std::set<std::string> named;
  for (std::sregex_iterator found(dashboard.begin(), dashboard.end(), kName); found != std::sregex_iterator();
       ++found)
    named.insert(found->str());
  EXPECT_GT(named.size(), 20U);
  for (const std::string& each : named) EXPECT_TRUE(names.contains(each)) << each;
}

}  // namespace
}  // namespace pop::popdistd

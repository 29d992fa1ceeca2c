// SPDX-License-Identifier: Apache-2.0
// The real daemon's metrics, as a strict reader and as Prometheus have them.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/integration/daemon/daemon_fixture.h"
#include "tests/testing/free_port.h"
#include "tests/testing/prometheus_text.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MetricsTest : public DaemonTest {
 protected:
  std::string place() const { return "127.0.0.1:" + std::to_string(http_port_); }

  static std::string outputOf(const std::string& command) {
    std::string output;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::array<char, 65536> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe))
      output.append(bytes.data(), count);
    ::pclose(pipe);
    return output;
  }

  /// Reads the URL as alice.
  std::string get(const std::string& url, const std::string& options = "") const {
    return outputOf("curl --silent --show-error --max-time 20 --cacert " + path("tls/ca.pem") + " --cert " +
                    path("tls/user-alice.pem") + " --key " + path("tls/user-alice-key.pem") + ' ' + options +
                    " '" + url + "'");
  }

  MetricsText metrics() const {
    const std::string text = get("https://" + place() + "/metrics");
    const Result<MetricsText> read = MetricsTextReader::read(text);
    EXPECT_TRUE(read.ok()) << read.status().message();
    return read.ok() ? read.value() : MetricsText();
  }

  const int http_port_ = freePort();
};

TEST_F(MetricsTest, AreStrictAndTellWhatHasHappened) {
  startDaemon(place());
  startHost("h0");
  EXPECT_EQ(waitForEnd(submit(shell("exit 3"))).end(), v1::END_FAILED);
  const MetricsText text = metrics();
  EXPECT_EQ(text.value("popdist_host_up", {{"host", "h0"}}), 1);
  EXPECT_EQ(text.value("popdist_jobs_total", {{"outcome", "failed"}}), 1);
  EXPECT_EQ(text.value("popdist_jobs", {{"state", "ended"}}), 1);
  EXPECT_EQ(text.value("popdist_job_run_seconds_count"), 1);
  EXPECT_EQ(text.value("popdist_job_start_seconds_count"), 1);
  EXPECT_EQ(text.value("popdist_rpc_requests_total",
                       {{"service", "popdist.v1.Controller"}, {"method", "Submit"}, {"code", "OK"}}),
            1);
  EXPECT_EQ(text.value("popdist_streams_open", {{"kind", "host"}}), 1);
  EXPECT_GT(text.value("popdist_certificate_expiry_seconds", {{"file", "certificate"}}), 86400);
  EXPECT_GT(text.value("popdist_store_commit_seconds_count"), 3);
  EXPECT_GT(text.value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_THAT(outputOf("curl --silent --show-error --cacert " + path("tls/ca.pem") + " https://" + place() +
                       "/metrics"),
              HasSubstr("show a certificate"));
  const MetricsText later = metrics();
  EXPECT_EQ(later.value("popdist_http_requests_total", {{"code", "200"}}), 1);
  EXPECT_EQ(later.value("popdist_auth_failures_total", {{"how", "http"}}), 1);
}

TEST_F(MetricsTest, AreScrapedByPrometheus) {
  if (std::system("command -v prometheus promtool >/dev/null") != 0) GTEST_SKIP() << "there is no Prometheus";
  startDaemon(place());
  startHost("h0");
  EXPECT_EQ(waitForEnd(submit(shell("true"))).end(), v1::END_SUCCEEDED);
  std::ofstream(path("text")) << get("https://" + place() + "/metrics");
  EXPECT_EQ(outputOf("promtool check metrics <" + path("text")), "");
  std::ofstream(path("prometheus.yml"))
      << "global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: popdistd\n    scheme: https\n"
      << "    tls_config: {ca_file: tls/ca.pem, cert_file: tls/user-alice.pem, key_file: "
         "tls/user-alice-key.pem}\n"
      << "    static_configs: [{targets: [\"" << place() << "\"]}]\n";
  const std::string web = "127.0.0.1:" + std::to_string(freePort());
  startProgram("prometheus", "prometheus --config.file=" + path("prometheus.yml") +
                                 " --storage.tsdb.path=" + path("tsdb") + " --web.listen-address=" + web);
  const auto ask = [&](const std::string& query) {
    return outputOf("curl --silent --get --data-urlencode 'query=" + query + "' http://" + web +
                    "/api/v1/query");
  };
  std::string answer;
  EXPECT_TRUE(waitUntil(
      [&] {
        answer = ask(R"(popdist_jobs_total{outcome="succeeded"} == 1)");
        return answer.find(R"("job":"popdistd")") != std::string::npos;
      },
      kTimeout))
      << answer << logOf("prometheus");
  EXPECT_THAT(ask("up"), AllOf(HasSubstr(R"("job":"popdistd")"), HasSubstr(R"("1"])")));
  EXPECT_THAT(ask("histogram_quantile(0.5, popdist_job_run_seconds_bucket)"), HasSubstr(R"("value":)"));
}

}  // namespace
}  // namespace pop::testing

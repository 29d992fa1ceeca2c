// SPDX-License-Identifier: Apache-2.0
// Every call of popdistd has a rule, and the page of all calls, docs/reference/daemon_calls.md, is made from
// the table in the code.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/testing/all_calls.h"

namespace pop::popdistd {
namespace {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

// ---- the page

std::string httpOf(const MethodDescriptor& method) {
  std::string text;
  for (const testing::HttpPath& each : testing::httpPathsOf(method))
    text += std::string(text.empty() ? "" : ", ") + (each.is_posted ? "`POST " : "`GET ") + each.path + '`';
  return text;
}

std::string rowOf(const MethodDescriptor& method) {
  const Rule& rule = ruleOf(testing::ruleNameOf(method.name()));
  const bool has_owner = rule.others != rule.least;
  return "| `" + method.name() + "` | " + httpOf(method) + " | " + std::string(roleName(rule.least)) + " | " +
         (has_owner ? std::string(roleName(rule.others)) : "") + " | " + (rule.is_for_keys ? "yes" : "") +
         " | " + (rule.is_audited ? "yes" : "") + " |\n";
}

std::string answers() {
  return "\n"
         "## Who is answered what\n"
         "\n"
         "Each of these is tried at each call of the services above, by gRPC and (but for keys) HTTP, at a "
         "popdistd that leads and at one that follows.\n"
         "\n"
         "| Shown | Answer |\n"
         "|---|---|\n"
         "| nothing, or a host's certificate | `UNAUTHENTICATED`, 401 |\n"
         "| a token that was removed | the same; after 20 in a minute from an address `RESOURCE_EXHAUSTED`, "
         "429 |\n"
         "| a job's certificate, the jobs' issuer's, one of etcd's or another authority, one that has "
         "expired | none: no handshake |\n"
         "| a user's certificate or token, a role below the row's | `PERMISSION_DENIED`, 403 |\n"
         "| a token, at `CreateToken` | `PERMISSION_DENIED`, 403 |\n"
         "| a key of V-IPU's clients, at a call that is not for keys | `PERMISSION_DENIED` |\n";
}

std::string page() {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made from the code: POP_WRITE_PAGES=1 build/dev/tests/unit_popdistd_rpc "
      "--gtest_filter='AllCalls*' -->\n"
      "# All calls of popdistd\n\n"
      "Which role each call takes ([roles](../guide/popdistd.md#who-may-what)), by gRPC and by HTTP. *Of "
      "others*: for a job, or a "
      "held partition, of another user. *Key*: also by a key of V-IPU's clients. *Audit*: it has an entry in "
      "the audit "
      "log, also when it is refused. Of partitions, allocations decide besides. `Wait` is `Get` over and "
      "over; `Attach` is `Logs`, and "
      "`Signal` for each signal that it passes on.\n\n"
      "A call without a row fails a test.\n";
  const ServiceDescriptor* of = nullptr;
  for (const MethodDescriptor* const each : testing::allCalls()) {
    if (each->service() != of)
      text += "\n## " + each->service()->full_name() +
              "\n\n| Call | HTTP | Role | Of others | Key | Audit |\n|---|---|---|---|---|---|\n";
    of = each->service();
    text += rowOf(*each);
  }
  return text +
         "\n## Other calls\n\n| Call | For whom |\n|---|---|\n"
         "| `popdist.v1.Hosts.Join` | a host, by a certificate that has its name |\n"
         "| `grpc.health.v1.Health` | anybody |\n"
         "| `grpc.reflection.v1alpha.ServerReflection` | over TLS, who shows a certificate |\n"
         "| `GET /metrics` | viewer |\n"
         "| `POST /login` | who has a token |\n"
         "| `POST /logout` | anybody, for the own session |\n"
         "| `GET /healthz`, `GET /`, `GET /assets/…` | anybody |\n" +
         answers();
}

TEST(AllCallsPage, IsUpToDate) {
  const std::string path = POP_SOURCE_DIR "/docs/reference/daemon_calls.md";
  if (std::getenv("POP_WRITE_PAGES") != nullptr) std::ofstream(path) << page();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), page());
}

TEST(AllCallsPage, HasARuleForEachCall) {
  EXPECT_FALSE(testing::allCalls().empty());
  for (const MethodDescriptor* const each : testing::allCalls())
    EXPECT_EQ(ruleOf(testing::ruleNameOf(each->name())).method, testing::ruleNameOf(each->name()))
        << each->full_name();
  for (const ReadPath& each : kReadPaths)
    EXPECT_TRUE(each.method.empty() || ruleOf(each.method).method == each.method) << each.path;
  EXPECT_EQ(readPathOf("/v1/jobs/7/log")->method, "Logs");
  for (const char* const none :
       {"/v1/jobs/", "/v1/jobs/7/", "/v1/jobs/7/log/x", "/v1/invent", "/v1", "", "/"})
    EXPECT_EQ(readPathOf(none), nullptr) << none;
}

}  // namespace
}  // namespace pop::popdistd

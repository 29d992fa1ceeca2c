// SPDX-License-Identifier: Apache-2.0
// Every call of popdistd has a rule, and the page of all calls, docs/reference/daemon_calls.md, is made from
// the table in the code.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "popdistd/access/policy.h"
#include "popdistd/api/read_paths.h"
#include "popdistd/api/unary_methods.h"
#include "proto/descriptors.h"

namespace pop::popdistd {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

constexpr const char* kServices[] = {"popdist.v1.Controller", "popdist.v1.Pods", "popdist.v1.Access",
                                     "virmgrpc.UserService", "virmgrpc.VersionService"};

// Carried out by other calls, whose rules they have; of several, the one that opens it.
const std::map<std::string, std::string> kByOthers{{"Wait", "Get"}, {"Attach", "Logs"}};

const std::string& ruleNameOf(const std::string& method) {
  const auto other = kByOthers.find(method);
  return other == kByOthers.end() ? method : other->second;
}

std::vector<const MethodDescriptor*> allMethods() {
  proto::registerDescriptors();
  std::vector<const MethodDescriptor*> all;
  for (const char* const name : kServices) {
    const ServiceDescriptor* const service = DescriptorPool::generated_pool()->FindServiceByName(name);
    EXPECT_NE(service, nullptr) << name;
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) all.push_back(service->method(i));
  }
  return all;
}

// ---- the page

std::string httpOf(const std::string& method) {
  std::string text;
  bool is_posted = method == "Wait";
  const auto note = [&](const char* name, auto) { is_posted = is_posted || method == name; };
  forEachUnaryMethod(note);
  forEachUnaryPodsMethod(note);
  forEachUnaryAccessMethod(note);
  if (is_posted) text = "`POST /v1/" + method + '`';
  for (const ReadPath& each : kReadPaths) {
    if (each.method == method) text += (text.empty() ? "`GET " : ", `GET ") + std::string(each.path) + '`';
  }
  return text;
}

std::string rowOf(const MethodDescriptor& method) {
  const Rule& rule = ruleOf(ruleNameOf(method.name()));
  const bool has_owner = rule.others != rule.least;
  return "| `" + method.name() + "` | " +
         (method.file()->package() == "popdist.v1" ? httpOf(method.name()) : "") + " | " +
         std::string(roleName(rule.least)) + " | " + (has_owner ? std::string(roleName(rule.others)) : "") +
         " | " + (rule.is_for_keys ? "yes" : "") + " | " + (rule.is_audited ? "yes" : "") + " |\n";
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
  for (const MethodDescriptor* const each : allMethods()) {
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
         "| `GET /healthz`, `GET /`, `GET /assets/…` | anybody |\n";
}

TEST(AllCallsPage, IsUpToDate) {
  const std::string path = POP_SOURCE_DIR "/docs/reference/daemon_calls.md";
  if (std::getenv("POP_WRITE_PAGES") != nullptr) std::ofstream(path) << page();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), page());
}

TEST(AllCallsPage, HasARuleForEachCall) {
  for (const MethodDescriptor* const each : allMethods())
    EXPECT_EQ(ruleOf(ruleNameOf(each->name())).method, ruleNameOf(each->name())) << each->full_name();
  for (const ReadPath& each : kReadPaths)
    EXPECT_TRUE(each.method.empty() || ruleOf(each.method).method == each.method) << each.path;
  EXPECT_EQ(readPathOf("/v1/jobs/7/log")->method, "Logs");
  for (const char* const none :
       {"/v1/jobs/", "/v1/jobs/7/", "/v1/jobs/7/log/x", "/v1/invent", "/v1", "", "/"})
    EXPECT_EQ(readPathOf(none), nullptr) << none;
}

}  // namespace
}  // namespace pop::popdistd

// SPDX-License-Identifier: Apache-2.0
// All calls of popdistd, as its code has them: methods of the .proto files, their paths by HTTP, and whose
// rule each has. Tests of each call go through this list.
#pragma once

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

#include "popdistd/access/policy.h"
#include "popdistd/api/read_paths.h"
#include "popdistd/api/unary_methods.h"
#include "proto/descriptors.h"

namespace pop::testing {

/// Those of the services for users; Hosts is for hosts. Empty where one of the services is not there.
inline std::vector<const google::protobuf::MethodDescriptor*> allCalls() {
  proto::registerDescriptors();
  std::vector<const google::protobuf::MethodDescriptor*> all;
  for (const char* const name : {"popdist.v1.Controller", "popdist.v1.Pods", "popdist.v1.Access",
                                 "virmgrpc.UserService", "virmgrpc.VersionService"}) {
    const auto* const service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    if (service == nullptr) return {};
    for (int i = 0; i < service->method_count(); ++i) all.push_back(service->method(i));
  }
  return all;
}

/// The call whose rule counts: of one that another call carries out, that other one.
inline std::string ruleNameOf(const std::string& method) {
  static const std::map<std::string, std::string> by_others{{"Wait", "Get"}, {"Attach", "Logs"}};
  const auto other = by_others.find(method);
  return other == by_others.end() ? method : other->second;
}

struct HttpPath {
  bool is_posted = false;
  std::string path;  ///< "/v1/jobs/ID"
};

/// The paths of a call; V-IPU's have none.
inline std::vector<HttpPath> httpPathsOf(const google::protobuf::MethodDescriptor& method) {
  if (method.file()->package() != "popdist.v1") return {};
  bool is_posted = method.name() == "Wait";
  const auto note = [&](const char* name, auto) { is_posted = is_posted || method.name() == name; };
  popdistd::forEachUnaryMethod(note);
  popdistd::forEachUnaryPodsMethod(note);
  popdistd::forEachUnaryAccessMethod(note);
  std::vector<HttpPath> paths;
  if (is_posted) paths.push_back({true, "/v1/" + method.name()});
  for (const popdistd::ReadPath& each : popdistd::kReadPaths) {
    if (each.method == method.name()) paths.push_back({false, std::string(each.path)});
  }
  return paths;
}

}  // namespace pop::testing

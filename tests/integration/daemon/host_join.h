// SPDX-License-Identifier: Apache-2.0
// A host that joins popdistd and leaves again at once. It speaks another protocol, so jobs wait for it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>

#include "proto/popdist/v1/host.grpc.pb.h"

namespace pop::testing {

/// True: popdistd has welcomed it, within 20 s.
inline bool joinsOnce(::popdist::v1::Hosts::Stub& hosts, const std::string& name) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  const auto stream = hosts.Join(&context);
  ::popdist::v1::HostReport report;
  report.mutable_joins()->set_name(name);
  stream->Write(report);
  ::popdist::v1::HostOrder welcome;
  const bool is_welcome = stream->Read(&welcome);
  context.TryCancel();
  stream->Finish();
  return is_welcome;
}

}  // namespace pop::testing

// SPDX-License-Identifier: Apache-2.0
// A server's answer as popctl prints it: an error, JSON, words, or a line about success. Each returns
// popctl's exit code.
#pragma once

#include "popctl/report.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::popctl {

template <typename Reply>
int answered(const Command& command, const Result<Reply>& reply) {
  if (!reply.ok()) return failed(command, reply.status());
  return command.common.json ? printJson(reply.value()) : succeeded(command);
}

inline int answered(const Command& command, const Status& status) {
  if (!status.ok()) return failed(command, status);
  return command.common.json ? printJson(::popdist::v1::Nothing()) : succeeded(command);
}

template <typename Reply, typename ToText>
int shown(const Command& command, const Result<Reply>& reply, const ToText& text) {
  if (!reply.ok()) return failed(command, reply.status());
  return command.common.json ? printJson(reply.value()) : printText(text(reply.value()));
}

}  // namespace pop::popctl

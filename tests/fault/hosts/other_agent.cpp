// SPDX-License-Identifier: Apache-2.0
// An agent of our version, as its --version says, that welcomes everybody in a protocol of some later one.
#include <cstdio>
#include <memory>
#include <string>

#include "agent/stdio_link.h"
#include "common/contract/version.h"
#include "common/os/asio_loop.h"
#include "common/rpc/agent_server.h"

int main(int argc, char** argv) {
  using namespace pop;
  if (argc > 1 && std::string(argv[1]) == "--version")
    return std::printf("popdist-agent %s\n", contract::kVersion) < 0;
  Result<sys::Fd> stream = agent::takeStdio();
  if (!stream.ok()) return 1;
  os::AsioLoop loop;
  std::shared_ptr<rpc::RunCall> the_call;
  const auto welcome = [&](std::shared_ptr<rpc::RunCall> call) {
    the_call = std::move(call);
    rpc::v1::Report report;
    report.mutable_welcome()->set_protocol(contract::kAgentProtocol + 99);
    report.mutable_welcome()->set_version("99.0");
    the_call->send(report);
    the_call->listen({.command = [](const rpc::v1::Command&) {}, .closed = [&] { loop.stop(); }});
  };
  rpc::AgentServer server(loop, {.run = welcome, .describe = nullptr, .end_job = nullptr});
  server.serveOver(std::move(*stream));
  loop.run();
  the_call->finish({});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// An agent of our version, as its --version says, that welcomes every launcher in a protocol of some later
// one, or (last argument "refuse") does not understand what comes first.
#include <cstdio>
#include <string>

#include "common/contract/version.h"
#include "common/os/epoll_loop.h"
#include "common/sys/taken_stdio.h"
#include "common/wire/stream_call.h"

int main(int argc, char** argv) {
  using namespace pop;
  if (argc > 1 && std::string(argv[1]) == "--version")
    return std::printf("popdist-agent %s\n", contract::kVersion) < 0;
  Result<sys::Stdio> stdio = sys::takeStdio();
  if (!stdio.ok()) return 1;
  os::EpollLoop loop;
  wire::StreamRunCall call(loop, std::move(stdio->in), std::move(stdio->out));
  const bool refuses = std::string(argv[argc - 1]) == "refuse";
  wire::v1::Report report;
  report.mutable_welcome()->set_protocol(contract::kAgentProtocol + 99);
  report.mutable_welcome()->set_version("99.0");
  refuses ? call.finish({Code::kInvalidArgument, "the first command is not Hello"}) : call.send(report);
  call.listen({.command = [](const wire::v1::Command&) {}, .closed = [&] { loop.stop(); }});
  loop.run();
  call.finish({});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/forbidden_call.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace pop::testing {

namespace {

constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t kJumpIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr std::uint16_t kReturn = BPF_RET | BPF_K;

template <std::size_t kCount>
bool install(std::array<sock_filter, kCount> filter) {
  const sock_fprog program{.len = kCount, .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool forbidSystemCall(long number) {
  return install(std::array{
      sock_filter{kLoad, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{kJumpIfEqual, 0, 1, static_cast<std::uint32_t>(number)},
      sock_filter{kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      sock_filter{kReturn, 0, 0, SECCOMP_RET_ALLOW},
  });
}

bool forbidIpv6() {
  // The lower half of the first argument: machines that we run on put it first.
  return install(std::array{
      sock_filter{kLoad, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{kJumpIfEqual, 0, 3, SYS_socket},
      sock_filter{kLoad, 0, 0, offsetof(seccomp_data, args)},
      sock_filter{kJumpIfEqual, 0, 1, AF_INET6},
      sock_filter{kReturn, 0, 0, SECCOMP_RET_ERRNO | EAFNOSUPPORT},
      sock_filter{kReturn, 0, 0, SECCOMP_RET_ALLOW},
  });
}

}  // namespace pop::testing

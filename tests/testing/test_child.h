// SPDX-License-Identifier: Apache-2.0
// The program that the tests let poprun run: one binary, its first argument says what it does.
//   exit CODE                 signal NUMBER            unterminated TEXT         print-env
//   lines COUNT BYTES         COUNT lines of BYTES bytes, newline included, on stdout and as many on stderr
//   long-line BYTES           one line
//   binary BYTES              bytes of every value, always the same ones
//   flood                     lines on stdout for ever
//   report                    descriptors, signals, group, directory, limits, CPUs, memory, as NAME=value
//   bind-ports                binds the ports that it was given
//   wait [CODE]               says "ready INSTANCE PID", waits; SIGUSR1 makes it exit with CODE
//   say-signals               as wait; says the name of each SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and
//                             SIGCONT that it gets; SIGTERM ends it
//   ignore-term               as wait; SIGTERM does nothing
//   fail-until ATTEMPT CODE   says "ready"; the last instance exits with CODE and the others wait, until the
//                             job has been started again ATTEMPT times: then all exit with 0
//   spawn-grandchild KIND     as wait, with a waiting grandchild: fork, group, daemon, nested, threads
//   leave-daemon CODE         exits with CODE, leaving a daemon that keeps stdout open
//   leave-daemon-once CODE    the same in the first attempt; as wait in the next
//   guard-grandchild          says "grandchild PID", exits with 0 when that was killed
//   breed COUNT               as wait; at SIGTERM it and all its offspring fork until there were COUNT, and
//   wait
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pop::testing {

using Arguments = std::vector<std::string>;

int instanceIndex();

/// "ready INSTANCE PID", at once.
void sayReady();
[[noreturn]] void pauseForever();

/// The texts of `lines`, which tests compare with.
std::string lineText(int instance, char stream, int number, std::size_t bytes);
/// The bytes of `binary`.
std::string binaryText(std::size_t bytes);

// test_child_forks.cpp
int spawnGrandchild(const Arguments& arguments);
int leaveDaemon(const Arguments& arguments);
int guardGrandchild(const Arguments& arguments);
int breed(const Arguments& arguments);

// test_child_report.cpp
int report(const Arguments& arguments);
int bindPorts(const Arguments& arguments);

}  // namespace pop::testing

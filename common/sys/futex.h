// SPDX-License-Identifier: Apache-2.0
// Sleep until a word in shared memory changes. Works between processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pop::sys {

/// Sleeps while `word` holds `expected`, at most `timeout`. May wake for no reason: look at the word again.
void futexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               std::chrono::milliseconds timeout);

/// Wakes all who sleep on `word`.
void futexWakeAll(std::atomic<std::uint32_t>& word);

}  // namespace pop::sys

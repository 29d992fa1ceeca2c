// SPDX-License-Identifier: Apache-2.0
// A collective between ranks that share memory, as data: the steps of one rank. As with plan.h for messages,
// a pure function makes the plan and shared/engine.h carries it out. Plans that go through the stages are
// made in parts (staged_plan.h).
//
// Each rank has a *stage*: slots of memory that the other ranks can read and write, used in turn from call to
// call. Where all ranks can read the users' own buffers (popdist::Buffer), plans do without it. Ranks publish
// their progress in counters that only grow; no step writes what another rank may still read.
//
// Processors write slowly to a line that another core has only read. So a line of a slot is written by its
// rank, then read *and written* by another one, and so on (ADR 0028).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace popdist::plan {

/// The size of a cache line: ranks that write side by side must not write to the same one.
inline constexpr std::size_t kLineBytes = 64;

/// A rank's progress, in chunks. In a plan without chunks: 1 when it is done.
enum class Counter : std::uint8_t {
  kExported,  ///< its part of the chunk is in its stage
  kFolded,    ///< its block of the chunk is reduced
  kDone,      ///< it will not read the chunk any more
  kSettled,   ///< it has exported for kSettle; counts these steps, not chunks
};

enum class SharedStepKind : std::uint8_t {
  kExport,    ///< own stage = own input
  kImport,    ///< own output = `rank`'s stage, where it may be written back as it was
  kFetch,     ///< own output = `rank`'s input; `rank` may be this one
  kGive,      ///< `rank`'s output = own input
  kTake,      ///< own output = `rank`'s output
  kFold,      ///< own input, and the others' from their stages, reduced in order of rank
  kFoldFrom,  ///< all inputs where they are, reduced in order of rank
  kPost,      ///< own `counter` = `value`
  kAwait,     ///< until all others' `counter`s are at least `value`, which may lie before this call
  kSettle,    ///< if some ranks exported before the meeting and others, whose buffers all can read, did not:
              ///< those have now, and all wait for it
  kConfirm,   ///< no rank has aborted so far, so what was read in other ranks' buffers is valid
  kMeet,      ///< announces the call and waits until all ranks have; once in each plan
};

/// Destinations of a fold's result; a set of flags.
enum FoldTarget : std::uint8_t {
  kNowhere = 0,
  kOwnOutput = 1,
  kOthersStages = 2,  ///< every other rank's stage, in place of its input
  kAllOutputs = 4,    ///< every rank's output
  kRankOutput = 8,    ///< the output of `rank`
  kWrittenBack =
      16,  ///< as kOthersStages, but no rank reads it there: only where it pays (shared/write_back.h)
};

/// Offsets and sizes are bytes; of inputs and outputs from the beginning of the user's buffer.
struct SharedStep {
  SharedStepKind kind = SharedStepKind::kAwait;
  Counter counter = Counter::kDone;  ///< kPost, kAwait
  std::uint8_t targets = kNowhere;   ///< kFold, kFoldFrom
  int rank = -1;                     ///< kImport, kFetch, kGive, kTake, kRankOutput
  std::size_t input = 0;
  std::size_t output = 0;
  std::size_t stage = 0;  ///< within the chunk's slot
  std::size_t bytes = 0;
  std::uint64_t chunk = 0;  ///< number of the chunk in `stage`, counted from the beginning of the call
  std::int64_t value = 0;   ///< kPost, kAwait: likewise

  friend bool operator==(const SharedStep&, const SharedStep&) = default;
};

/// A rank's answer to: may all other ranks work in its buffers?
enum class Offer : std::uint64_t {
  kNo,
  kYes,
  kNoMatter,
  kUnreadable,  ///< no, and the system cannot read them for others either
  kPieces,      ///< yes, but they are in pieces: their table is in shared memory
};

/// A rank's time to export what goes at once. All are in the same case of kOnly, or not.
enum class EagerOrder : std::uint8_t {
  kOnly,         ///< before the meeting, like all ranks
  kExportFirst,  ///< before the meeting; others may not have
  kMeetFirst,    ///< only now: it expected that no rank would need it
};

struct SharedPlan {
  std::vector<SharedStep> steps;
  std::uint64_t chunks = 0;  ///< growth of all counters when the plan is done
  bool eager =
      false;  ///< no slots: the stage is wherever the call has its room, of which all ranks take as much
};

/// The geometry of the stages: the number of slots and their size.
struct StageShape {
  std::size_t slot_bytes = 0;
  std::size_t slots = 0;
};

/// Begins an eager plan.
inline void exportAndMeet(SharedPlan& plan, std::size_t bytes, EagerOrder order) {
  const SharedStep meet{.kind = SharedStepKind::kMeet};
  if (order == EagerOrder::kMeetFirst) plan.steps.push_back(meet);
  if (bytes > 0) plan.steps.push_back({.kind = SharedStepKind::kExport, .bytes = bytes});
  if (order != EagerOrder::kMeetFirst) plan.steps.push_back(meet);
  if (order == EagerOrder::kOnly) return;
  plan.steps.push_back({.kind = SharedStepKind::kSettle});
}

/// Ends a plan that works in other ranks' buffers: confirms what was read there, and waits until no rank
/// touches another's input or output any more.
inline void partTogether(SharedPlan& plan) {
  plan.steps.push_back({.kind = SharedStepKind::kConfirm});
  plan.steps.push_back({.kind = SharedStepKind::kPost, .counter = Counter::kDone, .value = 1});
  plan.steps.push_back({.kind = SharedStepKind::kAwait, .counter = Counter::kDone, .value = 1});
  plan.chunks = 1;
}

}  // namespace popdist::plan

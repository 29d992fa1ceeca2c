// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the state of a training on a disk, written while the training goes on, and read by any number
// of instances. Guide: docs/guide/checkpoints.md.
//
//   train::Checkpoints checkpoints(context, {.directory = "runs/a"});
//   train::Position at = checkpoints.resume(pieces).value_or(train::Position{.seed = 42});
//   for (; at.step < 10'000; ++at.step) {
//     if (at.step % 500 == 0 && at.step > 0) checkpoints.save(pieces, at);
//     …
//   }
//   checkpoints.wait();
//
// A checkpoint holds pieces of named tensors, at their places in the whole, unpadded tensor. So two
// instances, or one, can read what four have written. Files are safetensors; a directory `step-000500` has
// that name when all instances' files are whole and on the disk, never before.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/cxx20.hpp"
#include "popdist/held.hpp"
#include "popdist/piece.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

/// A training's position, between two updates of the weights.
struct Position {
  std::uint64_t step = 0;     ///< updates that are done
  std::uint64_t epoch = 0;    ///< that is under way
  std::uint64_t samples = 0;  ///< used by the training from that epoch, over all instances
  std::uint64_t seed = 0;
  /// Further values that the training must know or must find unchanged: the loss scale, the instruction set,
  /// whether denormals are flushed. UTF-8.
  std::map<std::string, std::string> values{};

  friend bool operator==(const Position&, const Position&) = default;
};

struct CheckpointOptions {
  /// Made if it is not there. All instances must name the same, on a file system that their hosts share.
  std::filesystem::path directory{};
  /// Complete checkpoints to keep; older ones are deleted when a newer one is complete. 0: all. Only those
  /// are deleted that this object has saved, or that were there, and older, when it resumed.
  int keep = 3;
  /// An instance's wait for the others' files before the step counts as failed. As Context::setTimeout.
  std::chrono::milliseconds write_timeout = std::chrono::minutes(30);
};

/// Writes checkpoints of a job. Callers: every instance makes one, and makes the same calls in the same
/// order, from one thread at a time. Each has a thread, and a communicator of all instances that only it
/// uses, so that no call waits for other instances but those that say so. At most one checkpoint is being
/// written.
///
/// Memory: as much as the pieces of this instance, from the first save() on.
///
/// Failures: the step counts only if the files of all instances are on the disk. If one fails, all instances
/// hear of it, by the same popdist_error: from the next save(), from wait(), or, if neither is called, on
/// stderr when the object goes. Checkpoints that were complete before stay. After kUnavailable or
/// kDeadlineExceeded of another instance the object is useless, as a communicator is: every later call throws
/// kFailedPrecondition. After any other failure the next save() tries anew.
class Checkpoints {
 public:
  /// Collective. Waits for all instances. Throws popdist_error as Context::createCommunicator, and on all
  /// instances alike:
  ///   kFailedPrecondition  another job writes to the directory; the text names it. Or `directory` or
  ///                        `keep` is another on some instances
  ///   kInvalidArgument     `keep` is negative, `write_timeout` less than a millisecond, or `directory` empty
  ///   and what the file system refuses, with the path
  Checkpoints(Context& context, CheckpointOptions options);
  /// Waits until the checkpoint that is being written is complete or has failed.
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// Collective. Reads the newest complete checkpoint of the directory into `pieces`, any split of its
  /// tensors: instance 0 says which it is. Returns its position; nothing, and leaves `pieces` alone, if there
  /// is none. Waits for all instances, so that all have read the same one or all throw: what Checkpoint::load
  /// throws on one of them. `pieces` are undefined then. Not while other jobs write to the directory.
  ///
  /// `accept` is called on each instance with the position before anything is read. If it throws on one of
  /// them, all throw that, and `pieces` are as they were.
  std::optional<Position> resume(std::span<const Piece> pieces,
                                 const std::function<void(const Position&)>& accept = {});

  /// Makes the memory for snapshots of `pieces`, so that the first save() is as quick as the next ones.
  void prepare(std::span<const Piece> pieces);

  /// Collective, but waits for no other instance. Copies `pieces` and returns: they may be changed then. A
  /// thread writes the copy. If an earlier checkpoint is still being written, waits for it; see isWriting().
  ///
  /// All instances' pieces together are each tensor once, without gaps and overlaps: where instances hold the
  /// same, each gives its shareOf(). Pieces and tensors may be empty. `at` is the same on all instances but
  /// for `at.values`, of which those of instance 0 are kept. `at.step` must be above that of the newest
  /// checkpoint there.
  ///
  /// Throws popdist_error, and has saved nothing then:
  ///   the error of the checkpoint before, if it failed
  /// All instances hear of an error of this checkpoint, on whichever instance, at their next call, so that
  /// they stay at the same one; an instance alone hears of its pieces and its memory at once:
  ///   kInvalidArgument    a piece lies outside of its tensor, or has no name; pieces with gaps or overlaps,
  ///                       other types or shapes of a tensor, other positions
  ///   kAlreadyExists      a step that is not above the newest
  ///   kResourceExhausted  no memory for the copy; disk or quota full
  /// and what else the file system says.
  ///
  /// Cost: a copy of the pieces. In the background: checksums, the write, and six short collectives.
  void save(std::span<const Piece> pieces, const Position& at);

  /// Waits until nothing is being written. Throws the last checkpoint's error if it failed and no call has
  /// thrown it yet.
  void wait();

  /// Remembers in the directory that the training has been evaluated as it was at `step`, whether that
  /// checkpoint is complete yet or not. Instance 0 writes; the others do nothing. Throws popdist_error for
  /// what the file system refuses.
  void setEvaluated(std::uint64_t step);

  /// The step of the last setEvaluated() in this directory, in any job's life. Collective: as instance 0
  /// reads it. Waits for what is being written. Throws popdist_error as resume().
  std::optional<std::uint64_t> evaluated();

  /// True if save() would wait.
  bool isWriting() const;

  class Impl;  // internal
  explicit Checkpoints(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// A complete checkpoint, open for reading; needs no context. It can be read to its end even if it is deleted
/// meanwhile. Takes a file descriptor for each of its files. From one thread at a time.
class Checkpoint {
 public:
  /// The checkpoint with the highest step. Throws popdist_error kNotFound if there is none, and as open().
  static Checkpoint newest(const std::filesystem::path& directory);

  /// The checkpoint of `step`. Throws popdist_error naming the file: kNotFound (with the steps that there
  /// are); kDataLoss if the manifest is damaged, or a file is missing or has another size; kPermissionDenied.
  static Checkpoint open(const std::filesystem::path& directory, std::uint64_t step);

  /// Waits until there is one of a higher step than `step` (of any, if nothing), and opens the newest. Looks
  /// ten times a second. Nothing: `timeout` has passed. For evaluation beside the training. Throws as open().
  static std::optional<Checkpoint> waitForNewer(const std::filesystem::path& directory,
                                                std::optional<std::uint64_t> step,
                                                std::chrono::milliseconds timeout);

  const Position& position() const;
  /// The whole tensors, by name.
  const Spec& tensors() const;
  /// Digest of its manifest, which has checksums of all tensors: copies of one checkpoint have the same.
  std::uint64_t digest() const;

  /// Reads into `pieces`, whatever pieces have been saved; not all tensors need to be read. Reads and checks
  /// whole blocks of 1 MiB. Throws popdist_error naming tensor and file:
  ///   kNotFound         there is no such tensor; names some that there are
  ///   kInvalidArgument  it has another type or shape; a piece lies outside of it
  ///   kDataLoss         a checksum is wrong; `pieces` are undefined
  void load(std::span<const Piece> pieces) const;

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  class Impl;  // internal
  explicit Checkpoint(std::unique_ptr<Impl> impl);

 private:
  popdist::detail::Held<Impl, "Checkpoint"> impl_;
};

/// The steps of the complete checkpoints in `directory`, ascending; none if it is not there. Throws
/// popdist_error for what the file system refuses.
std::vector<std::uint64_t> checkpointSteps(const std::filesystem::path& directory);

}  // namespace popdist::train

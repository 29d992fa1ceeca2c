// SPDX-License-Identifier: Apache-2.0
// Datasets: elements of named tensors, and the steps of a pipeline that shuffle, change and batch them.
// Nothing is read before an infeed (or rows(), on the host) asks, but for a sequence that is cached: a step
// after it that needs its size reads all of it. The elements depend only on the pipeline and on the pass:
// the same (seed, epoch) gives the same elements in the same order on every machine, for every number of
// threads and every split of the replicas over instances.
//
//   auto data = io::Dataset::idx({{"image", "train-images.gz"}, {"label", "train-labels.gz"}})
//                   .shuffle(/*seed=*/42).batch(32).forReplicas(io::InputContext::of(context)).repeat();
//
// A dataset is moved, never copied: each step takes the one before it. A pipeline has two kinds of sources.
// Elements of most are *addressed* by index, by several threads at once; a generator's come in *sequence*,
// from one thread. Sizes are numbers of elements of one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/cxx20.hpp"
#include "popdist/files.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

class Node;
struct DatasetAccess;

/// Elements addressed by index. Derive from it to feed data of your own. All functions are called by several
/// threads at once, and spec() and size() must never change. They may throw; Infeed::next() reports the
/// error.
class Source {
 public:
  virtual ~Source() = default;

  /// The tensors of one element.
  virtual const Spec& spec() const = 0;
  /// Elements.
  virtual std::uint64_t size() const = 0;
  /// Writes all tensors of element `index` (< size()).
  virtual void read(std::uint64_t index, TensorRefs element) const = 0;
};

/// Makes the tensors of one element out of those of another. Called by several threads at once; may throw.
using MapFunction = std::function<void(ConstTensorRefs from, TensorRefs to)>;

/// Writes the next element of a pass and returns true; or false: there is none left. May throw.
using Generator = std::function<bool(TensorRefs element)>;

/// Treatment of elements that do not fill a batch, or of batches that are too few for all replicas.
enum class Remainder : std::uint8_t {
  kDrop,            ///< left out of this pass; Dataset::dropped() counts them
  kPadWithWeights,  ///< filled up with zeros; a tensor "weight" (float) is 1 for elements, 0 for what fills
                    ///< up
};

/// The name of the tensor that Remainder::kPadWithWeights adds, one float for each row of a batch.
inline constexpr const char* kWeightTensor = "weight";

/// An instance's place among the readers of the whole job.
struct InputContext {
  int pipelines = 1;  ///< instances: each has one input pipeline; for shard(pipelines, index)
  int index = 0;      ///< this instance's pipeline; forReplicas() deals by replicas, only checks these two
  int replicas = 1;   ///< the whole job's
  int first_replica = 0;  ///< the global index of this instance's first
  int local_replicas = 1;

  static InputContext of(const Context& context);
};

class Dataset {
 public:
  /// Elements of a pass that never ends: repeat().
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

  // --- Sources. Each throws popdist_error kInvalidArgument where names, types or shapes are impossible: an
  // empty or doubled name, no tensor or more than 64, a dimension of 0, a size that overflows.

  /// One element: all of `tensors`.
  static Dataset fromTensors(Tensors tensors);

  /// An element for each index of the first dimension, which all tensors have in common. Kept in memory.
  static Dataset fromSlices(Tensors tensors);

  static Dataset fromSource(std::shared_ptr<const Source> source);

  /// A sequence: `start` is called at the beginning of each pass with its epoch, and its generator until that
  /// returns false, both from one thread at a time. Every pass must have the same number of elements, which
  /// is not known before the end of the first. A generator that is started anew for the same epoch must give
  /// the same elements.
  static Dataset fromGenerator(Spec element, std::function<Generator(std::uint64_t epoch)> start);

  /// Unsigned bytes (Type::kUint8) of IDX files, one element for each index of their common first dimension.
  /// Reads the files to their ends. Throws popdist_error naming the file and what is wrong with it:
  /// kNotFound, kPermissionDenied, kDataLoss (truncated, or corrupt gzip), kInvalidArgument (not IDX, not
  /// unsigned bytes, counts that differ), kResourceExhausted (it does not fit in memory; a false size in a
  /// header allocates nothing). Bytes after the gzip data that are not gzip are ignored, as gzip does; where
  /// they could be elements (CSV, TFRecord, tar), they are kDataLoss.
  static Dataset idx(const std::vector<IdxFile>& files);

  /// A file of records, as writeRecords() makes: the quickest to read, since it is mapped and never parsed.
  /// Each record has a checksum, which is checked when it is read; files made before there were any are read,
  /// too. Throws popdist_error naming the file: kNotFound, kPermissionDenied, kInvalidArgument (another
  /// format), kDataLoss (another length than its header says; when it is read: damaged, or changed since).
  static Dataset records(const std::filesystem::path& path);

  // Files of other programs. Plain files are mapped, so that they cost no memory; gzip files are decompressed
  // into memory. A mapped file that is written to or made shorter while the dataset lives is kDataLoss when
  // an element is read (docs/adr/0058): replace files by renaming new ones over them. Opening finds where
  // elements are; their contents are read when elements are. Each throws popdist_error naming the file and
  // what is wrong with it: kNotFound, kPermissionDenied, kInvalidArgument (another format, or contents that
  // the tensors cannot hold), kDataLoss (truncated or damaged), kResourceExhausted (no memory).

  /// Arrays of NumPy, one element for each index of their common first dimension: versions 1 to 3, row-major
  /// (or in Fortran order with one dimension longer than 1), little-endian, of bool, integers and floats.
  /// Other orders and types are refused by name.
  static Dataset npy(const std::vector<NpyFile>& files);

  /// A file of comma-separated values (RFC 4180, in UTF-8), one element for each row. Opening it checks every
  /// row's fields and their number; numbers are read when their row is, as pandas, R, NumPy and Excel write
  /// them: "+1.5", " 3 ", "1e+05" and "3.0" for integers, too, "True" and "FALSE" (1 and 0), "-Inf", "NaN".
  /// Other text is an error that names line, column and text: empty fields, "NA" and "1,5", and all that is
  /// no number of the tensor's type. kNotFound also: no such column.
  static Dataset csv(const std::filesystem::path& path, const CsvOptions& options);

  /// TFRecord files, one element for each record, whose bytes `decode` gets. Without it each record is the
  /// bytes of the tensors of `element`, one after the other. Checksums of lengths are checked at once, those
  /// of records when they are read.
  static Dataset tfRecords(const std::vector<std::filesystem::path>& files, Spec element,
                           RecordFunction decode = nullptr);

  /// TFRecord files of tf.train.Example messages: each tensor is the feature of its name, as many values as
  /// its shape has. kFloat is a float_list, kInt64 an int64_list, kUint8 a bytes_list: one string of all its
  /// bytes, or as many as the first dimension.
  static Dataset tfExamples(const std::vector<std::filesystem::path>& files, Spec features);

  /// tar archives as WebDataset has them (ustar, pax, GNU's long names): files whose names are the same up to
  /// the first dot follow each other and are one element, see TarElement. A link is the file of the archive
  /// that it leads to; one that leads to none is kInvalidArgument. Directories, files without a dot, hidden
  /// ones and those in a directory such as __meta__ are passed over. Without `decode` each tensor of
  /// `element` is the content of the file whose extension (in lower case) is its name, exactly its bytes:
  /// shapes are static, so files whose sizes differ need a function that makes them the same.
  static Dataset tar(const std::vector<std::filesystem::path>& archives, Spec element,
                     TarFunction decode = nullptr);

  // --- Steps. Each consumes the dataset before it.

  /// Each element becomes the one that `function` makes of it, of the tensors `element`.
  Dataset map(Spec element, MapFunction function) &&;

  /// A permutation of all elements by (seed, epoch), another one in each epoch. Takes no memory and no time
  /// before the first element. Before batch(). Throws popdist_error kFailedPrecondition for a sequence: see
  /// shuffleBuffered() and cache().
  Dataset shuffle(std::uint64_t seed = 0) &&;

  /// For a sequence: each element is drawn from the next `elements` ones, by (seed, epoch). Keeps that many.
  Dataset shuffleBuffered(std::size_t elements, std::uint64_t seed = 0) &&;

  /// Every `count`-th element, from `index` on. All shards together are the dataset; their sizes differ by at
  /// most one.
  Dataset shard(int count, int index) &&;

  /// The batches (or elements) of this instance's replicas: of each `context.replicas` ones in a row, the
  /// replica with the global index r gets the r-th, so that every split of replicas over instances reads the
  /// same. Give the result to an infeed of `context.local_replicas`. All replicas have the same number: what
  /// is left over is dropped, or padded if the dataset is of a batch() that pads. Throws popdist_error
  /// kInvalidArgument when there are not enough for one step.
  Dataset forReplicas(const InputContext& context) &&;

  /// `rows` elements together: each tensor gets a new first dimension of `rows`. Throws popdist_error
  /// kInvalidArgument when a dataset of known size has elements, but not enough for one batch that is to be
  /// full.
  Dataset batch(std::size_t rows, Remainder remainder = Remainder::kDrop) &&;

  /// `times` passes as one, each with an epoch of its own; without an argument for ever. So are passes of
  /// more elements than 64 bits can count.
  Dataset repeat() &&;
  Dataset repeat(std::uint64_t times) &&;

  /// The first `elements` only; all but the first `elements`.
  Dataset take(std::uint64_t elements) &&;
  Dataset skip(std::uint64_t elements) &&;

  /// Keeps elements in memory as they are first read; the source is not read again. After shuffle() that
  /// would keep the order of the first epoch for ever, so it says so on stderr, once.
  Dataset cache() &&;

  /// Copies all elements to a file in `directory`, such as a local disk for data on a network drive, before
  /// the first is read; one process of those that name the same directory does so while the others wait. The
  /// file is cache.records; the choice of shard() and forReplicas() is part of its name, so that each
  /// instance may cache its own part. It stays for later runs, which use it if it is of the same pipeline:
  /// paths of files, their inodes, sizes and times of change, values of tensors in memory, steps and their
  /// arguments. Your functions, generators and sources cannot be compared: delete the cache, or cache in
  /// another directory, when these change, and give each instance a directory where they differ between
  /// instances.
  /// Throws popdist_error for what the file system refuses, and
  /// kFailedPrecondition for a file of something else.
  Dataset cache(const std::filesystem::path& directory) &&;

  /// Number of elements (batches) that an infeed of this dataset reads ahead, 1 to 255. 3 if not said.
  Dataset prefetch(int depth) &&;

  // --- Questions.

  /// The tensors of one element.
  const Spec& spec() const;

  /// Elements of a pass: kEndless after repeat(); nothing while it is not known, as for a generator.
  std::optional<std::uint64_t> size() const;

  /// Elements of the source that a pass leaves out, for want of a full batch or step; nothing while unknown.
  std::optional<std::uint64_t> dropped() const;

  /// True if elements come in sequence only.
  bool isSequence() const;

  /// Reads element `index` of pass `epoch` into `element`, which has exactly the tensors of spec(). False:
  /// there is none. For tests and tools; training reads by an Infeed. A sequence is read from its start again
  /// when `index` goes back.
  bool read(std::uint64_t epoch, std::uint64_t index, Tensors& element) const;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

 private:
  template <typename Make>
  Dataset step(const char* function, const Make& make);

  friend DatasetAccess;
  explicit Dataset(std::unique_ptr<const Node> root, int prefetch_depth);

  std::unique_ptr<const Node> root_;  // nullptr: consumed
  int prefetch_depth_ = 3;
};

/// Writes all elements of pass `epoch` to a file of records; Dataset::records() reads it. The file gets its
/// name when it is whole and on the disk, and replaces an older one; until then it is `path`.partial, of
/// which nothing stays after an error. A link stays one: the file that it names is replaced. Throws
/// popdist_error kInvalidArgument for a dataset without end and a `path` that is no regular file (a
/// directory, a device), kNotFound for a link to nothing, kUnavailable when another call, in any process of
/// this host, is writing the same file, and what the file system or the dataset say.
void writeRecords(const Dataset& dataset, const std::filesystem::path& path, std::uint64_t epoch = 0);

}  // namespace popdist::io

// SPDX-License-Identifier: Apache-2.0
// Dataset: the public face of the pipeline's steps.
#include "popdist/dataset.hpp"

#include <atomic>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "libpopdist/data/dataset/access.h"
#include "libpopdist/data/dataset/cached.h"
#include "libpopdist/data/dataset/element_steps.h"
#include "libpopdist/data/dataset/file_sources.h"
#include "libpopdist/data/dataset/index_steps.h"
#include "libpopdist/data/dataset/node.h"
#include "libpopdist/data/dataset/record_source.h"
#include "libpopdist/data/dataset/row_layout.h"
#include "libpopdist/data/dataset/sequence.h"
#include "libpopdist/data/dataset/sources.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::io {
namespace {

constexpr int kPrefetchDepth = 3;  // the device's own default

std::unique_ptr<const Node> valueOf(NodeResult node, const char* function) {
  throwIfError(node.status(), function);
  return std::move(node).value();
}

/// Once in a process: a pipeline is made by every replica.
void warnOfOneOrder() {
  static std::atomic<bool> is_said{false};
  if (is_said.exchange(true)) return;
  std::fputs(
      "popdist: cache() after shuffle() keeps the order of the first epoch for ever: put cache() before "
      "shuffle()\n",
      stderr);
}

}  // namespace

InputContext InputContext::of(const Context& context) {
  return {.pipelines = context.numInstances(),
          .index = context.instanceIndex(),
          .replicas = context.numTotalReplicas(),
          .first_replica = context.replicaIndexOffset(),
          .local_replicas = context.numLocalReplicas()};
}

Dataset::Dataset(std::unique_ptr<const Node> root, int prefetch_depth)
    : root_(std::move(root)), prefetch_depth_(prefetch_depth) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

std::unique_ptr<const Node> DatasetAccess::take(Dataset& dataset, const char* function) {
  look(dataset, function);
  return std::move(dataset.root_);
}

const Node& DatasetAccess::look(const Dataset& dataset, const char* function) {
  if (!dataset.root_)
    throwIfError(
        pop::failedPrecondition("this dataset was given to a step or an infeed and cannot be used again"),
        function);
  return *dataset.root_;
}

int DatasetAccess::prefetchDepth(const Dataset& dataset) {
  return dataset.prefetch_depth_;
}

Dataset DatasetAccess::make(NodeResult root, const char* function, int prefetch_depth) {
  return Dataset(valueOf(std::move(root), function), prefetch_depth);
}

namespace {

Dataset source(NodeResult node, const char* function) {
  return DatasetAccess::make(std::move(node), function, kPrefetchDepth);
}

}  // namespace

Dataset Dataset::fromTensors(Tensors tensors) {
  return source(oneElement(std::move(tensors)), "Dataset.fromTensors");
}
Dataset Dataset::fromSlices(Tensors tensors) {
  return source(slicesOf(std::move(tensors)), "Dataset.fromSlices");
}
Dataset Dataset::fromSource(std::shared_ptr<const Source> user) {
  return source(io::elementsOf(std::move(user)), "Dataset.fromSource");
}
Dataset Dataset::fromGenerator(Spec element, std::function<Generator(std::uint64_t)> start) {
  return source(generated(std::move(element), std::move(start)), "Dataset.fromGenerator");
}
Dataset Dataset::idx(const std::vector<IdxFile>& files) {
  return source(idxOf(files), "Dataset.idx");
}
Dataset Dataset::records(const std::filesystem::path& path) {
  return source(recordsOf(path.string()), "Dataset.records");
}

Dataset Dataset::npy(const std::vector<NpyFile>& files) {
  return source(npyOf(files), "Dataset.npy");
}
Dataset Dataset::csv(const std::filesystem::path& path, const CsvOptions& options) {
  return source(csvOf(path.string(), options), "Dataset.csv");
}
Dataset Dataset::tfRecords(const std::vector<std::filesystem::path>& files, Spec element,
                           RecordFunction decode) {
  return source(tfRecordsOf(files, std::move(element), std::move(decode)), "Dataset.tfRecords");
}
Dataset Dataset::tfExamples(const std::vector<std::filesystem::path>& files, Spec features) {
  return source(tfExamplesOf(files, std::move(features)), "Dataset.tfExamples");
}
Dataset Dataset::tar(const std::vector<std::filesystem::path>& archives, Spec element, TarFunction decode) {
  return source(tarOf(archives, std::move(element), std::move(decode)), "Dataset.tar");
}

template <typename Make>
Dataset Dataset::step(const char* function, const Make& make) {
  return DatasetAccess::make(make(DatasetAccess::take(*this, function)), function, prefetch_depth_);
}

Dataset Dataset::map(Spec element, MapFunction function) && {
  return step("Dataset.map",
              [&](auto below) { return mapped(std::move(below), std::move(element), std::move(function)); });
}
Dataset Dataset::shuffle(std::uint64_t seed) && {
  return step("Dataset.shuffle", [&](auto below) { return shuffled(std::move(below), seed); });
}
Dataset Dataset::shuffleBuffered(std::size_t elements, std::uint64_t seed) && {
  return step("Dataset.shuffleBuffered",
              [&](auto below) { return shuffledInBuffer(std::move(below), elements, seed); });
}
Dataset Dataset::shard(int count, int index) && {
  return step("Dataset.shard", [&](auto below) { return everyOf(std::move(below), count, index); });
}
Dataset Dataset::forReplicas(const InputContext& context) && {
  return step("Dataset.forReplicas", [&](auto below) { return dealt(std::move(below), context); });
}
Dataset Dataset::batch(std::size_t rows, Remainder remainder) && {
  return step("Dataset.batch", [&](auto below) { return batched(std::move(below), rows, remainder); });
}
Dataset Dataset::repeat() && {
  return std::move(*this).repeat(kEndless);
}
Dataset Dataset::repeat(std::uint64_t times) && {
  return step("Dataset.repeat", [&](auto below) { return repeated(std::move(below), times); });
}
Dataset Dataset::take(std::uint64_t elements) && {
  return step("Dataset.take", [&](auto below) { return rangeOf(std::move(below), 0, elements); });
}
Dataset Dataset::skip(std::uint64_t elements) && {
  return step("Dataset.skip", [&](auto below) { return rangeOf(std::move(below), elements, kEndless); });
}
Dataset Dataset::cache() && {
  return step("Dataset.cache", [&](auto below) {
    if (below->isShuffled()) warnOfOneOrder();
    return cachedInMemory(std::move(below));
  });
}
Dataset Dataset::cache(const std::filesystem::path& directory) && {
  return step("Dataset.cache", [&](auto below) {
    if (below->isShuffled()) warnOfOneOrder();
    return cachedInFile(std::move(below), directory);
  });
}
Dataset Dataset::prefetch(int depth) && {
  throwIfError(checkPrefetchDepth(depth), "Dataset.prefetch");
  return Dataset(DatasetAccess::take(*this, "Dataset.prefetch"), depth);
}

const Spec& Dataset::spec() const {
  return DatasetAccess::look(*this, "Dataset.spec").spec();
}
std::optional<std::uint64_t> Dataset::size() const {
  return DatasetAccess::look(*this, "Dataset.size").extent();
}
std::optional<std::uint64_t> Dataset::dropped() const {
  return DatasetAccess::look(*this, "Dataset.dropped").dropped();
}
bool Dataset::isSequence() const {
  return DatasetAccess::look(*this, "Dataset.isSequence").isSequence();
}

bool Dataset::read(std::uint64_t epoch, std::uint64_t index, Tensors& element) const {
  const Node& node = DatasetAccess::look(*this, "Dataset.read");
  if (element.spec() != node.spec()) {
    throwIfError(pop::invalidArgument("an element is " + textOf(node.spec()) + ", the tensors given are " +
                                      textOf(element.spec())),
                 "Dataset.read");
  }
  return node.read({epoch, nullptr}, index, element.refs().data());
}

void writeRecords(const Dataset& dataset, const std::filesystem::path& path, std::uint64_t epoch) {
  const Node& node = DatasetAccess::look(dataset, "writeRecords");
  if (node.extent() == Extent(kEndless))
    throwIfError(pop::invalidArgument("the dataset has no end"), "writeRecords");
  throwIfError(copyToRecords(node, {epoch, nullptr}, path.string()), "writeRecords");
}

}  // namespace popdist::io

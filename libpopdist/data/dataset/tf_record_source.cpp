// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/file_sources.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/dataset/foreign_bytes.h"
#include "libpopdist/data/dataset/index_steps.h"
#include "libpopdist/data/formats/tf_example.h"
#include "libpopdist/data/formats/tf_records.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

using Decode = std::function<pop::Status(std::span<const std::byte> record, TensorRefs element)>;

class RecordElements final : public AddressedSource {
 public:
  RecordElements(TfRecords records, Spec spec, Decode decode, const char* function, const char* how)
      : AddressedSource(records.size()),
        records_(std::move(records)),
        spec_(std::move(spec)),
        decode_(std::move(decode)),
        function_(function),
        how_(how) {}

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    const pop::Result<std::span<const std::byte>> record = records_.record(index);
    throwIfError(record.status(), function_);
    const pop::Status decoded = decode_(record.value(), TensorRefs(spec_, row));
    throwIfError(records_.checkRead(index), function_);
    if (!decoded.ok())
      throwIfError({decoded.code(), records_.placeOf(index) + ": " + decoded.message()}, function_);
    return true;
  }

  std::string description() const override {
    return std::string(function_) + '(' + describeFiles(records_.files()) + ": " + textOf(spec_) + how_ + ')';
  }

 private:
  TfRecords records_;
  Spec spec_;
  Decode decode_;
  const char* function_;
  const char* how_;
};

pop::Status copyTensors(std::span<const std::byte> record, TensorRefs element) {
  const std::size_t expected = tensor::bytesOf(element.spec());
  if (record.size() != expected) {
    return pop::invalidArgument("it has " + std::to_string(record.size()) + " bytes, expected the " +
                                std::to_string(expected) + " of " + popdist::textOf(element.spec()) +
                                ": a function can decode records of any size");
  }
  for (std::size_t i = 0; i < element.size(); ++i) {
    const std::size_t bytes = element.bytes(i).size();
    copyForeign(element.spec()[i].type, record.first(bytes), element.data()[i]);
    record = record.subspan(bytes);
  }
  return {};
}

/// `how`: what the description says of `decode`.
NodeResult open(const std::vector<std::filesystem::path>& files, Spec spec, Decode decode,
                const char* function, const char* how) {
  std::vector<std::string> paths;
  for (const std::filesystem::path& file : files) paths.push_back(file.string());
  POP_ASSIGN_OR_RETURN(TfRecords records, TfRecords::open(paths));
  return std::unique_ptr<const Node>(std::make_unique<RecordElements>(std::move(records), std::move(spec),
                                                                      std::move(decode), function, how));
}

}  // namespace

NodeResult tfRecordsOf(const std::vector<std::filesystem::path>& files, Spec element, RecordFunction decode) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(element, "the element"));
  Decode any = copyTensors;
  const bool is_decoded = static_cast<bool>(decode);
  if (is_decoded) {
    any = [decode = std::move(decode)](std::span<const std::byte> record, TensorRefs to) {
      decode(record, to);
      return pop::Status();
    };
  }
  return open(files, std::move(element), std::move(any), "Dataset.tfRecords", is_decoded ? ", decoded" : "");
}

NodeResult tfExamplesOf(const std::vector<std::filesystem::path>& files, Spec features) {
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(features, "the element"));
  POP_RETURN_IF_ERROR(checkFeatures(features));
  return open(files, std::move(features), readExample, "Dataset.tfExamples", "");
}

}  // namespace popdist::io

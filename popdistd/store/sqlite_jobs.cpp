// SPDX-License-Identifier: Apache-2.0
// Jobs and their events in the SQLite store.
#include <algorithm>
#include <cstdint>

#include "common/base/text.h"
#include "popdistd/store/sqlite_errors.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {
namespace {

constexpr std::string_view kPutJob =
    "INSERT INTO jobs(id, user, name, state, submitted, ended, request_id, record) VALUES(?, ?, ?, ?, ?, ?, "
    "?, ?) "
    "ON CONFLICT(id) DO UPDATE SET user = excluded.user, name = excluded.name, state = excluded.state, "
    "submitted = excluded.submitted, ended = excluded.ended, request_id = excluded.request_id, "
    "record = excluded.record";
// One that is the same writes nothing: it may be the largest part of a job by far.
constexpr std::string_view kPutSpec =
    "INSERT INTO job_specs(job, spec) VALUES(?, ?) "
    "ON CONFLICT(job) DO UPDATE SET spec = excluded.spec WHERE spec <> excluded.spec";
constexpr std::string_view kJobs =
    "SELECT id, record, spec FROM jobs LEFT JOIN job_specs ON job = id ORDER BY id";

template <typename Timestamp>
SqlValue milliseconds(bool is_there, const Timestamp& time) {
  if (!is_there) return {};
  return std::int64_t{time.seconds()} * 1000 + time.nanos() / 1'000'000;
}

Status putRow(Database& database, const v1::JobRecord& job) {
  const v1::JobInfo& info = job.info();
  v1::JobRecord without_spec = job;
  without_spec.clear_spec();
  const std::string record = without_spec.SerializeAsString();
  const SqlValue request_id =
      job.request_id().empty() ? SqlValue() : SqlValue(std::string_view(job.request_id()));
  return database.run(kPutJob, {std::int64_t{info.id()}, info.user(), info.name(), std::int64_t{info.state()},
                                milliseconds(info.has_submitted(), info.submitted()),
                                milliseconds(info.has_ended(), info.ended()), request_id, Blob{record}});
}

Status putSpec(Database& database, const v1::JobRecord& job) {
  const std::int64_t id = job.info().id();
  if (job.spec().empty() || job.info().state() == v1::JOB_ENDED)
    return database.run("DELETE FROM job_specs WHERE job = ?", {id});
  return database.run(kPutSpec, {id, Blob{job.spec()}});
}

std::string jobText(std::int64_t job) {
  return "job " + std::to_string(job);
}

// The job that has the request id of `job`, which the store has refused.
Status sayWhoHasRequest(Database& database, const v1::JobRecord& job, Status refused) {
  POP_RETURN_IF_ERROR(database.select(
      "SELECT id FROM jobs WHERE request_id = ?", {std::string_view(job.request_id())}, [&](const Row& row) {
        refused = {Code::kAlreadyExists, jobText(row.integer(0)) + " has the request id " +
                                             inQuotes(job.request_id()) + " already"};
        return Status();
      }));
  return refused;
}

Status sayWhereBound(Database& database, std::int64_t job, Status refused) {
  POP_RETURN_IF_ERROR(
      database.select("SELECT partition FROM bindings WHERE job = ?", {job}, [&](const Row& row) {
        refused = failedPrecondition(jobText(job) + " is bound to partition " + inQuotes(row.bytes(0)));
        return Status();
      }));
  return refused;
}

}  // namespace

Result<std::vector<v1::JobRecord>> SqliteStore::jobs() {
  std::vector<v1::JobRecord> jobs;
  POP_RETURN_IF_ERROR(database_.select(kJobs, {}, [&](const Row& row) {
    v1::JobRecord& job = jobs.emplace_back();
    if (!job.ParseFromString(row.bytes(1)))
      return damaged(database_.name(), "the record of " + jobText(row.integer(0)) + " cannot be read");
    job.set_spec(row.bytes(2));
    return Status();
  }));
  return jobs;
}

Status SqliteStore::putJob(const v1::JobRecord& job) {
  return write([&] {
    if (job.info().id() <= 0)
      return invalidArgument("a job's id is 1 or more, not " + jobText(job.info().id()));
    return database_.atomically([&] {
      Status status = putRow(database_, job);
      if (status.code() == Code::kAlreadyExists) return sayWhoHasRequest(database_, job, std::move(status));
      return status.ok() ? putSpec(database_, job) : status;
    });
  });
}

Status SqliteStore::removeJob(std::int64_t job) {
  return write([&] {
    Status status = database_.run("DELETE FROM jobs WHERE id = ?", {job});
    if (status.code() == Code::kFailedPrecondition) return sayWhereBound(database_, job, std::move(status));
    return status;
  });
}

Result<std::vector<StoredEvent>> SqliteStore::events(std::int64_t job, std::uint64_t from_sequence,
                                                     std::size_t most) {
  std::vector<StoredEvent> events;
  if (from_sequence > INT64_MAX) return events;
  const auto limit = static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX));
  const auto read = [&](const Row& row) {
    events.push_back({static_cast<std::uint64_t>(row.integer(0)), row.bytes(1)});
    return Status();
  };
  POP_RETURN_IF_ERROR(database_.select(
      "SELECT sequence, record FROM job_events WHERE job = ? AND sequence >= ? ORDER BY sequence LIMIT ?",
      {job, static_cast<std::int64_t>(from_sequence), limit}, read));
  return events;
}

Status SqliteStore::putEvent(std::int64_t job, const StoredEvent& event) {
  return write([&] {
    if (event.sequence > INT64_MAX)
      return invalidArgument("an event of " + jobText(job) + " has the sequence " +
                             std::to_string(event.sequence) + ", which no runner reaches");
    Status status =
        database_.run("INSERT INTO job_events(job, sequence, record) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                      {job, static_cast<std::int64_t>(event.sequence), Blob{event.bytes}});
    if (status.code() == Code::kFailedPrecondition)
      return Status(Code::kNotFound, "an event comes from " + jobText(job) + ", which is not in the store");
    return status;
  });
}

}  // namespace pop::popdistd

// SPDX-License-Identifier: Apache-2.0
// A program that uses MPI and nothing of ours. Its first argument says what it does.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct World {
  int rank = 0;
  int size = 0;
};

World start() {
  MPI_Init(nullptr, nullptr);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  return world;
}

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Says how many ranks share this host, and the sum of all ranks.
void greet(const World& world) {
  int sum = 0;
  MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int on_host = 0;
  MPI_Comm_size(host, &on_host);
  std::printf("rank %d of %d, %d on this host, sum %d\n", world.rank, world.size, on_host, sum);
  MPI_Comm_free(&host);
}

void hello() {
  greet(start());
  MPI_Finalize();
}

// MPICH before 4.2 hangs in MPI_Finalize, under its own launcher, too, when several ranks of a host have
// spoken with another host by TCP: a rank in the last barrier does not answer those that still disconnect.
void helloWithoutFinalize() {
  greet(start());
  MPI_Barrier(MPI_COMM_WORLD);
  std::fflush(stdout);
  std::_Exit(0);
}

void abortInTheLast() {
  const World world = start();
  if (world.rank == world.size - 1) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Barrier(MPI_COMM_WORLD);  // no rank gets past it
}

void spawn() {
  start();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::string command = "true";
  MPI_Comm children = MPI_COMM_NULL;
  const int failed = MPI_Comm_spawn(command.data(), MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                    &children, MPI_ERRCODES_IGNORE);
  say(failed == MPI_SUCCESS ? "spawned" : "not spawned");
  MPI_Finalize();
}

// Prints the number of this process's program in the job.
void sayProgram() {
  const World world = start();
  int* program = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, static_cast<void*>(&program), &is_known);
  say("rank " + std::to_string(world.rank) + " is of program " +
      (is_known == 0 ? "?" : std::to_string(*program)));
  MPI_Finalize();
}

// Says where it is served and where its files are, and waits until its stdin ends.
void serve() {
  const World world = start();
  MPI_Barrier(MPI_COMM_WORLD);
  if (world.rank == 0) say(variable("PMIX_SERVER_URI4") + ' ' + variable("PMIX_SERVER_TMPDIR"));
  if (world.rank == 0) std::getchar();
  MPI_Finalize();
}

// The first attempt fails after the start, the second is as good as if there had been none.
void failOnce() {
  const World world = start();
  if (variable("POPDIST_RESTART_COUNT") == "0" && world.rank == 1) std::exit(3);
  int sum = 0;
  MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  say("sum " + std::to_string(sum));
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "hello") hello();
  if (task == "hello-without-finalize") helloWithoutFinalize();
  if (task == "abort") abortInTheLast();
  if (task == "spawn") spawn();
  if (task == "program") sayProgram();
  if (task == "serve") serve();
  // The second instance ends before the others wait for it, or while they do.
  if (task == "without-1" && variable("POPDIST_INSTANCE_INDEX") != "1") start();
  if (task == "unfinished" && start().rank != 1) MPI_Finalize();
  if (task == "fail-once") failOnce();
  return 0;
}

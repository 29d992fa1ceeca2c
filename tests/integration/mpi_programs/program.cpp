// SPDX-License-Identifier: Apache-2.0
// Is linked with a library that is named as an MPI.
extern "C" int worldSize();

int main() {
  return worldSize() - 1;
}

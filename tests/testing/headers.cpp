// SPDX-License-Identifier: Apache-2.0
// Nothing: a target without a source file cannot own the tests' precompiled headers.

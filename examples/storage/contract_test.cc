// Tests that the storage of this example keeps the contract, by the tests that Cutpoint installs.
#include <storage_contract.h>

#include "memory_storage.h"

INSTANTIATE_TEST_SUITE_P(memory, cutpoint::tests::storage_contract,
                         testing::Values(cutpoint::tests::tested_storage{"memory",
                                                                         [] { return examples::memory_opener(); }}));

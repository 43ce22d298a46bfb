// Tests that the storage of this example keeps the contract, by the tests that Cutpoint installs.
#include <storage_contract.h>

#include "memory_storage.h"

using cutpoint::tests::storage_contract, cutpoint::tests::tested_storage;

INSTANTIATE_TEST_SUITE_P(memory, storage_contract,
                         testing::Values(tested_storage{"memory", [] { return examples::memory_opener(); }}));

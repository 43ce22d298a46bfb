// The tests of `device_dedup` on a device.
#include "tests/cuda/dedup/device_dedup_test.cc"

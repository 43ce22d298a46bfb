// Tests that fields that are left out take the documented values.
#include <gmock/gmock.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

struct default_case {
  std::string_view name;
  std::string_view settings;
  std::string_view canonical_words;  ///< of what the settings leave out
};

/// The defaults of all names without settings are pinned by catalog_test.cc.
constexpr default_case default_cases[] = {
    // Sizes follow the average.
    {"gear", "avg_bytes=16K", "min_bytes=4096,avg_bytes=16384,max_bytes=131072"},
    {"rabin", "avg_bytes=16K", "min_bytes=4096,avg_bytes=16384,max_bytes=131072"},
    {"tttd", "avg_bytes=1K,min_bytes=48", "min_bytes=48,avg_bytes=1024,max_bytes=8192"},
    {"fastcdc", "avg_bytes=16K", "min_bytes=4096,avg_bytes=16384,max_bytes=131072"},
    {"kopia-buzhash", "avg_bytes=1M", "min_bytes=524288,avg_bytes=1048576,max_bytes=2097152"},
    {"casync", "avg_bytes=32K", "min_bytes=8192,avg_bytes=32768,max_bytes=131072"},
    {"repmaxcdc", "min_bytes=64K", "min_bytes=65536,horizon=524288"},
    {"ram", "avg_bytes=16K", "max_bytes=32768,window=16128"},
    {"maxp", "half_window=100", "min_bytes=100,"},
    // mincdc makes its average the mean.
    {"mincdchash4", "multiplier=0x9e3779b1,addend=12345", "multiplier=0x9e3779b1,addend=0x3039"},
    {"mincdc4", "avg_bytes=16K", "min_bytes=8192,avg_bytes=16384,max_bytes=24576,multiplier=0x1,addend=0x0"},
    {"mincdc4", "avg_bytes=1", "min_bytes=0,avg_bytes=1,max_bytes=1,"},
    {"mincdc4", "avg_bytes=3", "min_bytes=1,avg_bytes=3,max_bytes=4,"},
    {"mincdc4", "min_bytes=6K", "min_bytes=6144,avg_bytes=8192,max_bytes=10240,"},
    {"mincdc4", "max_bytes=10K", "min_bytes=6144,avg_bytes=8192,max_bytes=10240,"},
    // ae takes its window from the average and the value.
    {"ae-min", "avg_bytes=16K", "avg_bytes=16384,max_bytes=131072,window=16128,value_bytes=1,lest=0,extreme=min"},
    {"ae-max", "value_bytes=8", "window=4768,"},           // round(8192 / 1.71828)
    {"ae-max", "value_bytes=8,avg_bytes=1", "window=1,"},  // round(0.58)
    {"ae-max", "value_bytes=8,avg_bytes=16K", "window=9535,"},
    // seqcdc takes the measured sets.
    {"seqcdc-inc", "avg_bytes=4K",
     "min_bytes=1024,avg_bytes=4096,max_bytes=8192,seq_length=5,skip_trigger=50,skip_size=256"},
    {"seqcdc-dec", "avg_bytes=8K",
     "min_bytes=4096,avg_bytes=8192,max_bytes=16384,seq_length=5,skip_trigger=45,skip_size=320"},
    {"seqcdc-inc", "avg_bytes=16K",
     "min_bytes=8192,avg_bytes=16384,max_bytes=32768,seq_length=5,skip_trigger=40,skip_size=640"},
    {"seqcdc-inc", "avg_bytes=32K",
     "min_bytes=16384,avg_bytes=32768,max_bytes=65536,seq_length=6,skip_trigger=40,skip_size=128"},
    {"seqcdc-dec", "avg_bytes=64K",
     "min_bytes=32768,avg_bytes=65536,max_bytes=131072,seq_length=6,skip_trigger=40,skip_size=384"},
    {"seqcdc-inc", "avg_bytes=2K",
     "min_bytes=1024,avg_bytes=2048,max_bytes=4096,seq_length=5,skip_trigger=50,skip_size=256"},
    {"seqcdc-inc", "avg_bytes=12K", "min_bytes=6144,"},
    {"seqcdc-inc", "skip_trigger=0", "skip_trigger=0,"},
};

TEST(defaults, are_those_that_are_documented) {
  for (const auto& [name, settings, canonical_words] : default_cases) {
    EXPECT_THAT(chunker_of(name, settings).canonical(), HasSubstr(canonical_words)) << name << " " << settings;
  }
}

TEST(defaults, a_maximum_of_0_stays_none) {
  for (const std::string_view name : {"gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "maxp",
                                      "ae-max", "ae-min", "ram", "seqcdc-inc", "seqcdc-dec"}) {
    EXPECT_THAT(chunker_of(name, "max_bytes=0").canonical(), HasSubstr("max_bytes=0,"));
    EXPECT_EQ(chunker_of(name, "max_bytes=0").reach(), unlimited);
  }
}

}  // namespace
}  // namespace cutpoint::tests

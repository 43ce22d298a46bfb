// The table of the subcommands that need no store.
#include <iterator>

#include "cli/subcommands.h"

namespace cutpoint::cli {

constexpr command_row engine_rows[] = {
    {"chunk", "List the chunks of files, folders and standard input, with fingerprints", make_chunk_command},
    {"dedup", "Report what deduplication would save, and where the time went", make_dedup_command},
    {"tune", "Recommend an algorithm, sizes and parameters by trying them on a sample of the data", make_tune_command},
    {"bench", "Measure the speed of each back end, and of the engine by processor, GPU and both", make_bench_command},
    {"list", "Show algorithms, profiles, fingerprints and back ends, with parameters and bounds", make_list_command},
    {"info", "Show processors, caches, NUMA nodes, devices, instruction sets, GPUs, costs and plans",
     make_info_command},
};

program engine_program() {
  return {"cutpoint",
          "Cutpoint cuts files and streams into content-defined chunks, exactly as the sequential algorithm does",
          {std::begin(engine_rows), std::end(engine_rows)}};
}

}  // namespace cutpoint::cli

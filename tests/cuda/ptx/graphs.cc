// The functions of the CUDA runtime for graphs that a stream captures. A graph is a list of work, which each launch does again.
#include <utility>

#include "tests/cuda/ptx/device.h"

using namespace cutpoint::ptx;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call([&](device& there) {
    static_cast<void>(there.queue_of(stream));
    if (stream == nullptr) throw fault("the default stream captures");
    if (!there.captures.try_emplace(stream).second) throw fault("a stream begins a capture while it captures");
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* state) {
  return call([&](device& there) {
    *state = there.captures.contains(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  return call([&](device& there) {
    auto captured = there.captures.extract(stream);
    if (captured.empty()) throw fault("a capture ends that has not begun");
    *graph = there.new_handle<cudaGraph_t>();
    there.graphs[*graph] = std::move(captured.mapped().work);
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return call([&](device& there) {
    *executable = there.new_handle<cudaGraphExec_t>();
    there.graphs[*executable] = there.graphs.at(graph);
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](device& there) {
    for (const auto& work : there.graphs.at(executable)) there.enqueue(stream, work);
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](device& there) {
    if (there.graphs.erase(graph) == 0) throw fault("a graph is destroyed that does not exist");
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](device& there) {
    if (there.graphs.erase(executable) == 0) throw fault("a graph is destroyed that does not exist");
  });
}

}  // extern "C"

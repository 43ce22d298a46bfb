// The execution of a task of any kind.
#include "pipeline/schedule/tasks.h"

#include <new>

namespace cutpoint {

void perform(task& task, const task_context& context, lane& worker) {
  try {
    task.outcome = std::visit([&](auto& work) { return perform(work, context, worker); }, task.work);
  } catch (const std::bad_alloc&) {
    task.outcome = out_of_memory();
  }
}

}  // namespace cutpoint

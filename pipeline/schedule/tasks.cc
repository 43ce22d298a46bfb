// The execution of a task of any kind.
#include "pipeline/schedule/tasks.h"

#include <new>

namespace cutpoint {

void perform(task& taken, const task_context& context, lane& worker) {
  try {
    taken.outcome = std::visit([&](auto& work) { return perform(work, context, worker); }, taken.work);
  } catch (const std::bad_alloc&) {
    taken.outcome = out_of_memory();
  }
}

}  // namespace cutpoint

// The engine's handle. Feeds hold what it points to, so that it may go before them.
#pragma once

#include <memory>

#include <cutpoint/cutpoint.h>
#include <cutpoint/engine.h>

struct cutpoint_engine {
  std::shared_ptr<cutpoint::engine> threads;
};

// The engine's handle. Feeds share ownership of the engine, so the handle may be destroyed before them.
#pragma once

#include <memory>

#include <cutpoint/cutpoint.h>
#include <cutpoint/engine.h>

struct cutpoint_engine {
  std::shared_ptr<cutpoint::engine> implementation;
};

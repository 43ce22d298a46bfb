#include "cluster/simulator/unit_builder.h"

#include <utility>

#include "cluster/similarity/handprint.h"

namespace cutpoint::cluster {

unit_builder::unit_builder(const unit_options& options, receiver take)
    : options_(options),
      take_(std::move(take)),
      super_chunks_(options.super_chunks, [this](class_number application, std::span<const routed_chunk> chunks) {
        add_unit(application, chunks);
      }) {}

void unit_builder::begin_file(class_number application, std::uint32_t client) {
  if (client != client_) super_chunks_.finish();
  application_ = application;
  client_ = client;
  super_chunks_.begin_file(application);
}

void unit_builder::add(std::span<const routed_chunk> chunks) {
  switch (options_.kind) {
    case routing_unit_kind::chunk:
      for (const routed_chunk& each : chunks) add_unit(application_, {&each, 1});
      return;
    case routing_unit_kind::file:
      file_.insert(file_.end(), chunks.begin(), chunks.end());
      return;
    case routing_unit_kind::super_chunk:
      for (const routed_chunk& each : chunks) super_chunks_.add(each);
  }
}

void unit_builder::end_file() {
  super_chunks_.end_file();
  if (!file_.empty()) add_unit(application_, file_);
  file_.clear();
}

void unit_builder::finish() {
  super_chunks_.finish();
  hand_out();
}

void unit_builder::add_unit(class_number application, std::span<const routed_chunk> chunks) {
  chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
  places_.push_back({application, client_, chunks_.size()});
  if (places_.size() == options_.batch_size) hand_out();
}

void unit_builder::hand_out() {
  handprints_.clear();
  handprint_ends_.clear();
  batch_.clear();
  std::size_t begin = 0;
  for (const unit_place& each : places_) {
    const auto chunks = std::span<const routed_chunk>(chunks_).subspan(begin, each.chunks_end - begin);
    if (options_.kind != routing_unit_kind::chunk) append_handprint(chunks, options_.handprint_size, handprints_);
    handprint_ends_.push_back(handprints_.size());
    begin = each.chunks_end;
  }
  begin = 0;
  std::size_t handprint_begin = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const unit_place& place = places_[i];
    batch_.push_back({{.application = options_.is_application_aware ? place.application : 0,
                       .client = place.client,
                       .chunks = std::span<const routed_chunk>(chunks_).subspan(begin, place.chunks_end - begin),
                       .handprint = std::span<const std::uint64_t>(handprints_)
                                        .subspan(handprint_begin, handprint_ends_[i] - handprint_begin)},
                      place.application});
    begin = place.chunks_end;
    handprint_begin = handprint_ends_[i];
  }
  if (!batch_.empty()) take_(batch_);
  chunks_.clear();
  places_.clear();
}

}  // namespace cutpoint::cluster

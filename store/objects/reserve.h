// The reserve of a store: room on its disk that only a prune uses.
#pragma once

#include <string_view>

#include <cutpoint/status.h>
#include <cutpoint/storage.h>

namespace cutpoint::store {

/// Returns whether a temporary object is a reserve, which belongs to no session.
[[nodiscard]] bool is_reserve(std::string_view temporary_id) noexcept;

/// Puts the reserve, unless the store has one, the storage has no room for it, or nobody knows how much room there is. Nothing else
/// is done with `objects` after that, because lack of room is a failure of it all the same.
[[nodiscard]] status put_reserve(storage& objects);

/// Removes the reserve. Returns whether there was one.
///
/// A prune puts its lease, a proposal and a decision before it removes anything, so that it could not begin on a full disk.
/// Nothing refers to the reserve, so it may be removed at any time. If another process takes the room, the prune fails as it
/// would without a reserve, and has lost nothing.
[[nodiscard]] result<bool> remove_reserve(storage& objects);

}  // namespace cutpoint::store

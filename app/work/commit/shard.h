// The members of an item, from its dump into a shard.
#pragma once

#include "app/work/commit/tar.h"
#include "app/work/commit/unit_result.h"

namespace saccade {

// Adds the item's members; returns its line of the index, without `shard`, which is named when it is whole. Throws
// Error of kOutput where the dump can't be read back.
Json add_to_shard(TarWriter& shard, const Plan& plan, const ItemResult& result);

}  // namespace saccade

// The inner loops of a scatter: some lines along the axis, or neighbours of one line off the axis.
#pragma once

#include "platform.hpp"
#include "scatter.hpp"

namespace ov_gather {

constexpr int64_t neighbours = 256;         // elements of a line off the axis that are updated together, at most
constexpr int64_t uninterrupted = 1 << 16;  // updates between two checks for an interrupt

OV_GATHER_INLINE void prefetch(const char* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch(from + at);
}

OV_GATHER_INLINE void prefetch_to_write(const char* to, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) fetch_to_write(to + at);
}

// Apply all updates along the axis for `count` positions of the innermost loop off the axis. Return false if an index is out of
// bounds.
using PieceFunction = bool (*)(const Threads&, const Scatter&, const char* data, const char* indices, const char* updates,
                               char* output, int64_t count);

// Return the function for the types of a scatter. By lines, which must be contiguous along the axis, each is copied from data
// just before its updates, unless data is the output; else the output holds a copy of data.
PieceFunction piece_function(const Scatter& scatter, bool by_lines);

}  // namespace ov_gather

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

// The loops of one element type and reduction. Each applies updates in order, and returns false if an index is out of bounds.
struct PieceLoops {
    bool (*strided)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count,
                    const ScatterLoop& step, int64_t output_step);
    // Of a block of contiguous updates along the axis, of one of neighbours off the axis, and of short lines.
    bool (*along)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count);
    bool (*off)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count);
    bool (*short_lines)(const Scatter&, const char* indices, const char* updates, char* output, int64_t count);
};

// Applies all updates along the axis for `count` positions of the innermost loop off the axis. Returns false if an index is out
// of bounds. By lines, which must be contiguous along the axis, each is copied from data just before its updates, unless data
// is the output; else the output holds a copy of data.
struct PieceFunction {
    PieceLoops loops;
    bool by_lines;

    bool operator()(const Threads&, const Scatter&, const char* data, const char* indices, const char* updates, char* output,
                    int64_t count) const;
};

// Return the function for the types of a scatter.
PieceFunction piece_function(const Scatter& scatter, bool by_lines);

}  // namespace ov_gather

#include "limit.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "platform.hpp"
#include "threads.hpp"

#if OV_GATHER_HAS_AVX
#include <immintrin.h>
#endif

namespace ov_gather {

extern const LimitLines limits_baseline;
#if OV_GATHER_HAS_AVX
extern const LimitLines limits_avx2;
extern const LimitLines limits_avx512_gather;
#endif

namespace {

const LimitLines& lines() {
#if OV_GATHER_HAS_AVX
    if (has_avx512()) return limits_avx512_gather;
    if (has_avx2()) return limits_avx2;
#endif
    return limits_baseline;
}

int size_class(int64_t unit) {
    int logarithm = 0;
    while (logarithm < slices && int64_t{1} << logarithm != unit) ++logarithm;
    return logarithm;
}

}  // namespace

bool can_load(Loads loads, int64_t unit) { return lines().take[loads][0][size_class(unit)] != nullptr; }

void run(const GatherLimit& limit) {
    const Steps& steps = limit.steps;
    const Take take = lines().take[limit.loads][limit.streamed][size_class(limit.unit)];
    const int64_t row = steps.width * limit.unit;
    in_parallel(steps.batches * steps.pieces(), 1, [&](const Range& range) {
        thread_local std::vector<char> buffer;
        for (int64_t step = range.begin(); step < range.end(); ++step) {
            const int64_t batch = step / steps.pieces(), start = step % steps.pieces() * steps.piece;
            const int64_t count = std::min(steps.piece, steps.width - start), bytes = count * limit.unit;
            const char* from = limit.data;
            if (limit.packed) {
                buffer.resize(steps.rows * bytes);
                from += batch * steps.rows * row + start * limit.unit;
                for (int64_t i = 0; i < steps.rows; ++i) std::memcpy(buffer.data() + i * bytes, from + i * row, bytes);
                from = buffer.data();
            }
            const int32_t* offsets = limit.offsets + step * steps.lines * steps.piece;
            char* to = limit.output + batch * steps.lines * row + start * limit.unit;
            for (int64_t i = 0; i < steps.lines; ++i) take(from, offsets + i * count, to + i * row, count, limit.unit);
        }
#if OV_GATHER_HAS_AVX
        _mm_sfence();  // makes streamed stores visible before we signal other threads
#endif
    });
}

void run(const ScatterLimit& limit) {
    const Steps& steps = limit.steps;
    const Put put = lines().put[limit.fetched][limit.adds];
    const int64_t updates_row = steps.pieces() * limit.line * limit.unit;
    in_parallel(steps.batches * steps.pieces(), 1, [&](const Range& range) {
        for (int64_t step = range.begin(); step < range.end(); ++step) {
            const int64_t batch = step / steps.pieces(), piece = step % steps.pieces();
            const int64_t first = batch * steps.rows * steps.width + piece * steps.piece;
            for (int64_t at = first, i = 0; i < steps.rows; ++i, at += steps.width)
                std::memcpy(limit.output + at, limit.data + at, steps.piece * sizeof(float));
            const int32_t* offsets = limit.offsets + step * steps.lines * limit.line;
            const float* from = limit.updates + batch * steps.lines * updates_row + piece * limit.line * limit.unit;
            for (int64_t i = 0; i < steps.lines; ++i)
                put(from + i * updates_row, offsets + i * limit.line, limit.output, limit.line, limit.unit);
        }
    });
}

}  // namespace ov_gather

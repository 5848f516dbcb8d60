// Reductions of the scatters, by the names in the attribute; NaN propagates, as in ONNX. Some compilers define `min` as a macro.
#undef min
#undef max
#define REDUCE_none(old, update) (update)
#define REDUCE_add(old, update) ((old) + (update))
#define REDUCE_mul(old, update) ((old) * (update))
#define REDUCE_min(old, update) ((update) < (old) || (update) != (update) ? (update) : (old))
#define REDUCE_max(old, update) ((update) > (old) || (update) != (update) ? (update) : (old))
#define REDUCE JOIN(REDUCE_, REDUCTION)

#define LANES_none 1
#if !JOIN(LANES_, LANES)
#error "the scatters have kernels for GPUs with lanes=none only"
#endif

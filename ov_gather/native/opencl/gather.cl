// Gather: one work item for each element of the output, [batch, outer, index, inner] in row-major order. A layer without the
// attribute `bounds` is OpenVINO's own Gather, and gets zeros.
#if BATCH_DIMS < 0
#error "Gather: write batch_dims as 0 or more; the plugin does not tell kernels the rank from which a negative one counts"
#endif
#define BOUNDS_error FLAG
#define BOUNDS_zero 0

__kernel void gather(const __global INPUT0_TYPE* data, const __global INPUT1_TYPE* indices, const __global INPUT2_TYPE* axes,
                     __global OUTPUT0_TYPE* output) {
    const Layout from = LAYOUT(INPUT0), index = LAYOUT(INPUT1), to = LAYOUT(OUTPUT0);
    const int axis = axes[INPUT2_OFFSET], number = get_global_id(0), own = element(&to, number);
    if (axis < BATCH_DIMS || axis > 3) {  // a negative one counts from the unknown rank
        output[own] = FLAG;
        return;
    }
    const int outer = count(&from, BATCH_DIMS, axis), inner = count(&from, axis + 1, 4);
    const int per_batch = count(&index, 0, 4) / count(&from, 0, BATCH_DIMS);
    const int row = number / inner / per_batch, in_batch = number / inner % per_batch;
    const int at = checked(indices[element(&index, row / outer * per_batch + in_batch)], from.sizes[axis]);
    const int taken = (row * from.sizes[axis] + at) * inner + number % inner;
    output[own] = at < 0 ? JOIN(BOUNDS_, BOUNDS) : data[element(&from, taken)];
}

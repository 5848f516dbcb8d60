// GatherND: one work item for each element of the output, [batch, tuple, element of a slice] in row-major order.
__kernel void gather_nd(const __global INPUT0_TYPE* data, const __global INPUT1_TYPE* indices, __global OUTPUT0_TYPE* output) {
    const Layout from = LAYOUT(INPUT0), index = LAYOUT(INPUT1), to = LAYOUT(OUTPUT0);
    const int number = get_global_id(0), own = element(&to, number);
    const int length = tuple_length(&index, &from, BATCH_DIMS, count(&to, 0, 4));
    const int slice = count(&from, BATCH_DIMS + length, 4), tuple = number / slice;
    int taken = tuple / (count(&index, 0, 4) / length / count(&from, 0, BATCH_DIMS));
    for (int i = 0; i < length; ++i) {
        const int size = from.sizes[BATCH_DIMS + i], at = checked(indices[element(&index, tuple * length + i)], size);
        if (at < 0) {
            output[own] = FLAG;
            return;
        }
        taken = taken * size + at;
    }
    output[own] = data[element(&from, taken * slice + number % slice)];
}

// ScatterND: one work item for each element of the output, which reads all tuples. So no two items write the same element, and
// updates are applied in order. A tuple out of bounds flags the whole output.
__kernel void scatter_nd(const __global INPUT0_TYPE* data, const __global INPUT1_TYPE* indices,
                         const __global INPUT2_TYPE* updates, __global OUTPUT0_TYPE* output) {
    const Layout from = LAYOUT(INPUT0), index = LAYOUT(INPUT1), update = LAYOUT(INPUT2), to = LAYOUT(OUTPUT0);
    const int number = get_global_id(0), length = tuple_length(&index, &from, 0, count(&update, 0, 4));
    const int slice = count(&from, length, 4), tuples = count(&index, 0, 4) / length;
    OUTPUT0_TYPE value = data[element(&from, number)];
    bool is_bad = false;
    for (int tuple = 0; tuple < tuples; ++tuple) {
        int row = 0;
        for (int i = 0; i < length; ++i) {
            const int at = checked(indices[element(&index, tuple * length + i)], from.sizes[i]);
            row = row * from.sizes[i] + at;
            is_bad = is_bad || at < 0;
        }
        if (row == number / slice) value = REDUCE(value, updates[element(&update, tuple * slice + number % slice)]);
    }
    output[element(&to, number)] = is_bad ? FLAG : value;
}

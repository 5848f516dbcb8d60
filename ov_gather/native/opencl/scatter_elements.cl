// ScatterElements: one work item for each element of the output, which reads all indices of its line along the axis. So no two
// items write the same element, and updates are applied in order. An index out of bounds flags the line.
#if AXIS < 0
#error "ScatterElements: write axis as 0 or more; the plugin does not tell kernels the rank from which a negative one counts"
#endif

__kernel void scatter_elements(const __global INPUT0_TYPE* data, const __global INPUT1_TYPE* indices,
                               const __global INPUT2_TYPE* updates, __global OUTPUT0_TYPE* output) {
    const Layout from = LAYOUT(INPUT0), index = LAYOUT(INPUT1), update = LAYOUT(INPUT2), to = LAYOUT(OUTPUT0);
    int place[4];
    unravel(&to, get_global_id(0), place);
    const int own = position(&to, place), line = place[AXIS];
    OUTPUT0_TYPE value = data[position(&from, place)];
    bool has_updates = true, is_bad = false;
    for (int i = 0; i < 4; ++i) has_updates = has_updates && (i == AXIS || place[i] < index.sizes[i]);
    for (int i = 0; has_updates && i < index.sizes[AXIS]; ++i) {
        place[AXIS] = i;
        const int at = checked(indices[position(&index, place)], from.sizes[AXIS]);
        if (at == line) value = REDUCE(value, updates[position(&update, place)]);
        is_bad = is_bad || at < 0;
    }
    output[own] = is_bad ? FLAG : value;
}

// The operations that declared_operations.py declares, as a library: for releases of OpenVINO without operations in Python,
// too.
#include <algorithm>
#include <cstring>
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/op/op.hpp>
#include <vector>

namespace {

// The plugin for CPUs passes i64 as i32.
size_t checked(const ov::Tensor& indices, size_t i, size_t size) {
    const auto is_wide = indices.get_element_type() == ov::element::i64;
    const int64_t index = is_wide ? indices.data<int64_t>()[i] : indices.data<int32_t>()[i];
    OPENVINO_ASSERT(0 <= index && index < static_cast<int64_t>(size), index, " is out of bounds for size ", size);
    return index;
}

// A tensor as [outer, size of the axis, inner].
struct Lines {
    Lines(const ov::Shape& shape, int64_t axis) {
        const auto at = shape.begin() + (axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
        outer = ov::shape_size(shape.begin(), at), size = *at, inner = ov::shape_size(at + 1, shape.end());
    }
    size_t outer, size, inner;
};

void check_axis(const ov::Node* node, const ov::PartialShape& shape, int64_t axis) {
    if (shape.rank().is_dynamic()) return;
    const auto rank = shape.rank().get_length();
    NODE_VALIDATION_CHECK(node, -rank <= axis && axis < rank, "axis ", axis, " is out of range for ", shape);
}

ov::Dimension common(const ov::Node* node, const ov::Dimension& one, const ov::Dimension& other) {
    ov::Dimension dimension;
    NODE_VALIDATION_CHECK(node, ov::Dimension::merge(dimension, one, other), one, " and ", other, " differ");
    return dimension;
}

ov::Dimension vector_size(const ov::Node* node, size_t port) {
    const auto& shape = node->get_input_partial_shape(port);
    NODE_VALIDATION_CHECK(node, shape.rank().compatible(1), shape, " is no vector");
    return shape.rank().is_static() ? shape[0] : ov::Dimension();
}

}  // namespace

class Roll : public ov::op::Op {
public:
    OPENVINO_OP("Roll", "mine");
    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        visitor.on_attribute("axis", m_axis);
        visitor.on_attribute("shifts", m_shifts);
        return true;
    }
    void validate_and_infer_types() override {
        check_axis(this, get_input_partial_shape(0), m_axis);
        set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
    }
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        const auto copy = std::make_shared<Roll>();
        copy->m_axis = m_axis;
        copy->m_shifts = m_shifts;
        copy->set_arguments(inputs);
        copy->validate_and_infer_types();
        return copy;
    }
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        outputs[0].set_shape(inputs[0].get_shape());
        const Lines lines(inputs[0].get_shape(), m_axis);
        int64_t shift = 0;
        for (const auto each : m_shifts) shift += each;
        const auto size = static_cast<int64_t>(lines.size),
                   bytes = static_cast<int64_t>(lines.inner * inputs[0].get_element_type().size());
        const auto* from = static_cast<const char*>(inputs[0].data());
        auto* to = static_cast<char*>(outputs[0].data());
        for (size_t outer = 0; outer < lines.outer; ++outer, from += size * bytes, to += size * bytes)
            for (int64_t i = 0; i < size; ++i)
                std::memcpy(to + ((i + shift) % size + size) % size * bytes, from + i * bytes, bytes);
        return true;
    }

private:
    int64_t m_axis = 0;
    std::vector<int64_t> m_shifts{1};
};

class SegmentSum : public ov::op::Op {
public:
    OPENVINO_OP("SegmentSum", "mine");
    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        visitor.on_attribute("segments", m_segments);
        return true;
    }
    void validate_and_infer_types() override {
        auto shape = get_input_partial_shape(0);
        const auto rows = vector_size(this, 1);
        if (shape.rank().is_static()) {
            NODE_VALIDATION_CHECK(this, shape.size() > 0, "data is a scalar");
            common(this, shape[0], rows);
            shape[0] = m_segments;
        }
        set_output_type(0, get_input_element_type(0), shape);
    }
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        const auto copy = std::make_shared<SegmentSum>();
        copy->m_segments = m_segments;
        copy->set_arguments(inputs);
        copy->validate_and_infer_types();
        return copy;
    }
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        auto shape = inputs[0].get_shape();
        const Lines lines(shape, 0);
        shape[0] = m_segments;
        outputs[0].set_shape(shape);
        auto* sums = outputs[0].data<float>();
        std::fill_n(sums, outputs[0].get_size(), 0.0f);
        for (size_t row = 0; row < lines.size; ++row) {
            const auto segment = checked(inputs[1], row, m_segments);
            for (size_t i = 0; i < lines.inner; ++i)
                sums[segment * lines.inner + i] += inputs[0].data<float>()[row * lines.inner + i];
        }
        return true;
    }

private:
    int64_t m_segments = 4;
};

class Lookup : public ov::op::Op {
public:
    OPENVINO_OP("Lookup", "mine");
    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        visitor.on_attribute("axis", m_axis);
        return true;
    }
    void validate_and_infer_types() override {
        auto shape = get_input_partial_shape(0);
        check_axis(this, shape, m_axis);
        const auto size = common(this, vector_size(this, 1), vector_size(this, 2));
        if (shape.rank().is_static()) shape[m_axis < 0 ? m_axis + shape.rank().get_length() : m_axis] = size;
        set_output_type(0, get_input_element_type(0), shape);
    }
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        const auto copy = std::make_shared<Lookup>();
        copy->m_axis = m_axis;
        copy->set_arguments(inputs);
        copy->validate_and_infer_types();
        return copy;
    }
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        auto shape = inputs[0].get_shape();
        const Lines lines(shape, m_axis);
        const auto count = inputs[1].get_size();
        shape[m_axis < 0 ? m_axis + static_cast<int64_t>(shape.size()) : m_axis] = count;
        outputs[0].set_shape(shape);
        const auto *table = inputs[0].data<float>(), *weights = inputs[2].data<float>();
        auto* output = outputs[0].data<float>();
        for (size_t outer = 0; outer < lines.outer; ++outer, table += lines.size * lines.inner)
            for (size_t n = 0; n < count; ++n) {
                const auto place = checked(inputs[1], n, lines.size), next = std::min(place + 1, lines.size - 1);
                for (size_t i = 0; i < lines.inner; ++i)
                    *output++ = table[place * lines.inner + i] * (1 - weights[n]) + table[next * lines.inner + i] * weights[n];
            }
        return true;
    }

private:
    int64_t m_axis = 0;
};

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<Roll>>(),
    std::make_shared<ov::OpExtension<SegmentSum>>(),
    std::make_shared<ov::OpExtension<Lookup>>(),
}));

// GatherScatter of the custom opset `ov_gather`: the aggregation of graph networks, without messages in memory.
#pragma once

#include <openvino/op/op.hpp>
#include <openvino/runtime/tensor.hpp>

#include <string>
#include <vector>

namespace ov_gather {

// For each edge, a row of data, by its source, is multiplied by its weights and added to the row of its target, in the order of
// the edges and in f32. Other rows are zeros. Inputs: data (f32, f16 or bf16), sources and targets (i32 or i64, vectors of the
// same size; negative ones count from the end) and optionally weights, of data's type: their shape is that of the gathered
// rows, or 1 from some dimension on. Attributes:
// - size: the number of rows of the output.
// - bounds: "error", or "zero" if a source out of bounds is a row of zeros. A target out of bounds is an error.
class GatherScatterOp : public ov::op::Op {
public:
    OPENVINO_OP("GatherScatter", "ov_gather");

    GatherScatterOp() = default;
    GatherScatterOp(const ov::OutputVector& inputs, int64_t size, const std::string& bounds);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    ov::PartialShape infer_shape(const std::vector<ov::PartialShape>& inputs) const;
    int64_t aggregate(const ov::TensorVector& inputs, ov::Tensor& output) const;
    ov::TensorVector with_row_of_zeros(ov::TensorVector inputs) const;

    int64_t m_size = 0;
    std::string m_bounds = "error";
};

}  // namespace ov_gather

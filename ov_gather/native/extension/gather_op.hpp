// Gather of the custom opset `ov_gather`: ONNX Gather-13, or, with bounds="zero", OpenVINO Gather-8, on our kernel.
#pragma once

#include <openvino/op/op.hpp>
#include <optional>

#include "tensors.hpp"

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), axis (i32 or i64, one element). Negative indices
// count from the end. Attributes: batch_dims, the number of leading dimensions that data and indices share (a negative number
// counts from the rank of indices); bounds = "error" or "zero", the treatment of an index out of bounds.
class GatherOp : public ov::op::Op {
public:
    OPENVINO_OP("Gather", "ov_gather");

    GatherOp() = default;
    GatherOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, const ov::Output<ov::Node>& axis,
             int64_t batch_dims, const std::string& bounds);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    ov::PartialShape infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices,
                                 std::optional<int64_t> axis) const;
    bool is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices, int64_t given) const;

    int64_t m_batch_dims = 0;
    std::string m_bounds = "error";
};

}  // namespace ov_gather

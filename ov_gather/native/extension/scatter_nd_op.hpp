// ScatterND of the custom opset `ov_gather`: ONNX ScatterND-18 as an OpenVINO operation, on our kernel.
#pragma once

#include "scatter_op.hpp"

namespace ov_gather {

// The last dimension of indices holds tuples of coordinates; updates have one slice of data per tuple.
class ScatterNDOp : public ScatterOp {
public:
    OPENVINO_OP("ScatterND", "ov_gather");

    ScatterNDOp() = default;
    ScatterNDOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes);

    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;

protected:
    void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                      const ov::PartialShape& updates) const override;
    Update update(const ov::Shape& data, const ov::Tensor& indices) const override;
};

}  // namespace ov_gather

// What the library adds to OpenVINO: the operation, and conversions from ONNX and PyTorch to it.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/frontend/onnx/extension/op.hpp>
#include <openvino/frontend/pytorch/extension/conversion.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/reshape.hpp>

#include "snake.hpp"

namespace {

std::shared_ptr<ov::Node> make(const ov::Output<ov::Node>& x, const ov::Output<ov::Node>& alpha, int64_t axis, double epsilon) {
    const auto all = ov::op::v0::Constant::create(ov::element::i64, {1}, {-1});
    return std::make_shared<Snake>(x, std::make_shared<ov::op::v1::Reshape>(alpha, all, false), axis, epsilon);
}

// An ONNX node whose names differ: `eps`, which may be missing, and alpha of shape [1, channels, 1].
ov::OutputVector convert_onnx(const ov::frontend::NodeContext& node) {
    return make(node.get_input(0), node.get_input(1), 1, node.get_attribute<double>("eps", 1e-9))->outputs();
}

// A PyTorch operator (x, alpha, axis = 1, epsilon = 1e-9), where all arguments are inputs.
ov::OutputVector convert_pytorch(const ov::frontend::NodeContext& node) {
    const auto argument = [&](int i) {
        return i < static_cast<int>(node.get_input_size()) ? node.get_values_from_const_input(i) : ov::Any();
    };
    const auto axis = argument(2), epsilon = argument(3);
    const auto number = epsilon.is<float>() ? epsilon.as<float>() : epsilon.empty() ? 1e-9 : epsilon.as<double>();
    return make(node.get_input(0), node.get_input(1), axis.empty() ? 1 : axis.as<int64_t>(), number)->outputs();
}

}  // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<Snake>>(),
    std::make_shared<ov::frontend::onnx::OpExtension<Snake>>("Snake", "example"),  // the same names, all attributes given
    std::make_shared<ov::frontend::onnx::ConversionExtension>("SnakeWithEps", "example", convert_onnx),
    std::make_shared<ov::frontend::pytorch::ConversionExtension>("example::snake", convert_pytorch),         // traced
    std::make_shared<ov::frontend::pytorch::ConversionExtension>("example.snake.default", convert_pytorch),  // exported
}));

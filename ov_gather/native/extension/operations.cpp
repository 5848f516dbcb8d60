// The operations of another extension library, for ov_gather/extension/probe.py. OpenVINO itself does not list them: if two
// libraries register the same operation, it takes one of both, without a word.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>

#include <memory>
#include <string>
#include <vector>

#include "platform.hpp"

// Return a line "type opset" for each operation that the entry point `create` of a library registers.
extern "C" OV_GATHER_EXPORT const char* ov_gather_operations_of(void (*create)(std::vector<ov::Extension::Ptr>&)) {
    static std::string lines;
    std::vector<ov::Extension::Ptr> extensions;
    create(extensions);
    lines.clear();
    for (const auto& extension : extensions) {
        const auto operation = std::dynamic_pointer_cast<ov::BaseOpExtension>(extension);
        if (!operation) continue;  // such as a conversion of ONNX nodes
        const auto& type = operation->get_type_info();
        lines += std::string(type.name) + " " + (type.version_id ? type.version_id : "") + "\n";
    }
    return lines.c_str();
}

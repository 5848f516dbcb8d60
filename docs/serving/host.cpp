// Serves a hardened model: ./host EXTENSION MODEL INDEX... gathers rows 0, 1 and 2 by the indices, if the guard lets them pass.
#include <openvino/openvino.hpp>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "guard.hpp"  // ov-gather prove MODEL --guard guard.hpp

int main(int count, char** arguments) {
    ov::Core core;
    core.add_extension(arguments[1]);
    auto request =
        core.compile_model(arguments[2], "CPU", ov::hint::inference_precision(ov::element::f32)).create_infer_request();

    const std::vector<float> data = {0, 1, 10, 11, 20, 21};
    std::vector<std::int64_t> indices;
    for (int i = 3; i < count; ++i) indices.push_back(std::atoll(arguments[i]));
    const auto length = static_cast<std::int64_t>(indices.size());
    try {
        guard::check({{data.data(), {1, 3, 2}}, {indices.data(), {1, length}}});
    } catch (const std::invalid_argument& refused) {
        std::cerr << refused.what() << "\n";
        return 1;
    }
    request.set_tensor("data", ov::Tensor(ov::element::f32, {1, 3, 2}, data.data()));
    request.set_tensor("indices", ov::Tensor(ov::element::i64, {1, indices.size()}, indices.data()));
    request.start_async();  // infer() on one thread would swallow errors
    request.wait();
    const ov::Tensor rows = request.get_output_tensor();
    for (size_t i = 0; i < rows.get_size(); ++i) std::cout << rows.data<float>()[i] << " ";
    std::cout << "\n";
}

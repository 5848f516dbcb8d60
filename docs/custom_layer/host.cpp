// Loads the extension, reads the IR and runs it on 0, 1, 2, 3: ./host libsnake.so snake.xml
#include <openvino/openvino.hpp>

#include <iostream>

int main(int, char** arguments) {
    ov::Core core;
    core.add_extension(arguments[1]);
    auto request =
        core.compile_model(arguments[2], "CPU", ov::hint::inference_precision(ov::element::f32)).create_infer_request();
    float x[] = {0, 1, 2, 3};
    request.set_input_tensor(ov::Tensor(ov::element::f32, {1, 4}, x));
    request.infer();
    for (size_t i = 0; i < 4; ++i) std::cout << request.get_output_tensor().data<float>()[i] << "\n";
}

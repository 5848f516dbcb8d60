"""Snake in PyTorch, as a module to train, and the ways in which OpenVINO converts it to one layer."""

import torch
from openvino.frontend.pytorch import ModuleExtension


@torch.library.custom_op("example::snake", mutates_args=())
def snake(x: torch.Tensor, alpha: torch.Tensor, axis: int = 1, epsilon: float = 1e-9) -> torch.Tensor:
    """An operator that tracing and torch.export keep whole."""
    return plain(x, alpha, axis, epsilon)


@snake.register_fake
def _(x, alpha, axis=1, epsilon=1e-9):
    return torch.empty_like(x)


def plain(x, alpha, axis=1, epsilon=1e-9):
    """The computation in operators of PyTorch, which differentiates it."""
    alpha = alpha.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return x + torch.sin(alpha * x) ** 2 / (alpha + epsilon)


class Snake(torch.nn.Module):
    """The activation with a trainable alpha; `custom`: as the custom operator, for inference."""

    def __init__(self, channels, axis=1, epsilon=1e-9, custom=False):
        super().__init__()
        self.alpha = torch.nn.Parameter(torch.ones(channels))
        self.axis, self.epsilon, self.custom = axis, epsilon, custom

    def forward(self, x):
        """Compute the activation."""
        return (snake if self.custom else plain)(x, self.alpha, self.axis, self.epsilon)


# ov.convert_model(model, example_input=..., extension=[snake.LIBRARY, MODULE]) makes one layer of each module `Snake`:
# evaluate is called while the model is traced, and convert's call becomes the layer.
MODULE = ModuleExtension(
    Snake,
    "example::snake",
    evaluate=lambda module, x, *rest: module(x),
    convert=lambda module, layer, x: layer(x, module.alpha, torch.tensor(module.axis), torch.tensor(module.epsilon)),
)

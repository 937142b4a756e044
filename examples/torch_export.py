"""A PyTorch module as an ONNX model: `python torch_export.py` in an environment with PyTorch.

The module becomes a script first, which is printed, and the model that is written beside it gives
what the module gives, at other sizes too.
"""

import numpy as np


def main() -> None:
    import sardonyx.torch
    import torch

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(8)
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(8, 16), torch.nn.ReLU(inplace=True), torch.nn.Linear(16, 3)
            )

        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            logits = self.layers(self.norm(x))
            return {"logits": logits, "best": logits.argmax(-1)}

    module = Network().eval()
    exported = sardonyx.torch.export(
        module, (torch.randn(2, 8),), dynamic_shapes=({0: "rows"},), verify=True
    )
    print(exported.to_script())
    model = exported.compile()
    x = torch.randn(5, 8)
    logits, best = model(x.numpy())
    wanted = module(x)
    np.testing.assert_allclose(logits, wanted["logits"].detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(best, wanted["best"].numpy())
    print("equal at", x.shape[0], "rows")


if __name__ == "__main__":
    main()

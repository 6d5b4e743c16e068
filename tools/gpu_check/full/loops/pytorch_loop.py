"""Trains a deep stack of layers in PyTorch and prints every loss. Knows nothing of tencache."""

import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed here")
    sys.exit(77)
if not torch.cuda.is_available():
    print("PyTorch sees no GPU here")
    sys.exit(77)

WIDTH, LAYERS, BATCH, STEPS = 4096, 24, 512, 6


def main():
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    inputs, wanted = torch.randn(BATCH, WIDTH).cuda(), torch.randn(BATCH, WIDTH).cuda()
    for step in range(1, STEPS + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item().hex()}", flush=True)
    print(f"parameters sum {sum(p.double().sum().item() for p in model.parameters()).hex()}")
    print(f"peak live bytes {torch.cuda.max_memory_allocated()}")


if __name__ == "__main__":
    main()

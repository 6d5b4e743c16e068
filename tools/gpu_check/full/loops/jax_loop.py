"""Trains a deep stack of layers in JAX and prints every loss. Knows nothing of tencache."""

import functools
import sys

try:
    import jax
except ImportError:
    print("JAX is not installed here")
    sys.exit(77)
if jax.default_backend() != "gpu":
    print("JAX sees no GPU here")
    sys.exit(77)

WIDTH, LAYERS, BATCH, STEPS = 4096, 24, 512, 6


def loss_of(weights, inputs, wanted):
    out = inputs
    for weight in weights:
        out = jax.nn.relu(out @ weight)
    return ((out - wanted) ** 2).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(weights, velocities, inputs, wanted):
    loss, gradients = jax.value_and_grad(loss_of)(weights, inputs, wanted)
    velocities = [0.9 * v + g for v, g in zip(velocities, gradients)]
    return [w - 0.05 * v for w, v in zip(weights, velocities)], velocities, loss


def main():
    keys = jax.random.split(jax.random.key(1), LAYERS + 2)
    weights = [jax.random.normal(key, (WIDTH, WIDTH)) * (2 / WIDTH) ** 0.5 for key in keys[2:]]
    velocities = [jax.numpy.zeros_like(weight) for weight in weights]
    inputs, wanted = (jax.random.normal(key, (BATCH, WIDTH)) for key in keys[:2])
    for step in range(1, STEPS + 1):
        weights, velocities, loss = train_step(weights, velocities, inputs, wanted)
        print(f"step {step} loss {float(loss).hex()}", flush=True)
    print(f"parameters sum {sum(float(weight.sum()) for weight in weights).hex()}")
    print(f"peak live bytes {3 * LAYERS * 4 * WIDTH * WIDTH}")


if __name__ == "__main__":
    main()

"""Trains a stack of rectified layers on a made-up task, in Python with NVIDIA's cuda.bindings.driver.

Prints every step's loss, a checksum of all parameters, and the most device memory held at a time. Ends with code 2
and a line when an allocation is refused. The kernels are kernels.cu beside it, as PTX.
"""

import argparse
import array
import ctypes
import hashlib
import math
import pathlib
import random
import sys

from cuda.bindings import driver

LEARNING_RATE = 0.05
MOMENTUM = 0.9
BLOCK = 256
POINTER, INT, FLOAT = ctypes.c_void_p, ctypes.c_int, ctypes.c_float


def checked(answer, what=""):
    """The values of a driver call's answer, whose first is the code."""
    code, *values = answer
    if code == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        print(f"out of memory: {what}", file=sys.stderr)
        sys.exit(2)
    if code != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"{code.name} {what}")
    return values[0] if len(values) == 1 else values


class Device:
    """The first GPU, a stream, and the kernels by name."""

    def __init__(self, kernels):
        checked(driver.cuInit(0))
        self.device = checked(driver.cuDeviceGet(0))
        checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(self.device))))
        self.stream = checked(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self.module = checked(driver.cuModuleLoadData(kernels.read_bytes() + b"\0"), str(kernels))
        self.functions = {}
        self.live = self.peak = 0

    def launch(self, name, elements, *arguments):
        """Launches the kernel over so many elements; an int is its int, a float its float, a Tensor its address."""
        if name not in self.functions:
            self.functions[name] = checked(driver.cuModuleGetFunction(self.module, name.encode()), name)
        values = tuple(int(a.address) if isinstance(a, Tensor) else a for a in arguments)
        kinds = tuple(POINTER if isinstance(a, Tensor) else FLOAT if isinstance(a, float) else INT for a in arguments)
        blocks = (elements + BLOCK - 1) // BLOCK
        checked(driver.cuLaunchKernel(self.functions[name], blocks, 1, 1, BLOCK, 1, 1, 0, self.stream, (values, kinds), 0), name)

    def synchronize(self):
        checked(driver.cuStreamSynchronize(self.stream))


class Tensor:
    """Floats on the device, freed with the last reference to them."""

    def __init__(self, device, count, values=None):
        self.device, self.count, self.bytes = device, count, 4 * count
        self.address = checked(driver.cuMemAlloc(self.bytes), f"cuMemAlloc of {self.bytes} bytes")
        device.live += self.bytes
        device.peak = max(device.peak, device.live)
        if values is not None:
            checked(driver.cuMemcpyHtoD(self.address, values.buffer_info()[0], self.bytes), f"cuMemcpyHtoD of {self.bytes} bytes")

    def __del__(self):
        if hasattr(self, "address"):
            driver.cuMemFree(self.address)
            self.device.live -= self.bytes

    def to_host(self):
        values = array.array("f", bytes(self.bytes))
        self.device.synchronize()
        checked(driver.cuMemcpyDtoH(values.buffer_info()[0], self.address, self.bytes), f"cuMemcpyDtoH of {self.bytes} bytes")
        return values


class Layer:
    def __init__(self, device, width, chance):
        # Variance is kept from layer to layer under a rectifier.
        bound = math.sqrt(6 / width)
        self.value = Tensor(device, width * width, uniform(chance, width * width, bound))
        self.velocity = Tensor(device, width * width, array.array("f", bytes(4 * width * width)))
        self.gradient = Tensor(device, width * width)


def uniform(chance, count, bound):
    return array.array("f", (chance.uniform(-bound, bound) for _ in range(count)))


class Network:
    def __init__(self, device, settings, chance):
        self.device, self.width, self.batch = device, settings.width, settings.batch
        self.layers = [Layer(device, settings.width, chance) for _ in range(settings.layers)]

    def step(self, inputs, wanted):
        losses = self.backward(self.forward(Tensor(self.device, len(inputs), inputs)), Tensor(self.device, len(wanted), wanted))
        for layer in self.layers:
            self.device.launch("momentum_step", layer.value.count, layer.value, layer.velocity, layer.gradient,
                               layer.value.count, LEARNING_RATE, MOMENTUM)
        return math.fsum(losses.to_host())

    def forward(self, inputs):
        outs = [inputs]
        for layer in self.layers:
            out = Tensor(self.device, inputs.count)
            self.matmul(out, outs[-1], layer.value, self.batch, self.width, self.width, 0, 0)
            if layer is not self.layers[-1]:
                self.device.launch("relu", out.count, out, out.count)
            outs.append(out)
        return outs

    def backward(self, outs, wanted):
        losses, d_out = Tensor(self.device, wanted.count), Tensor(self.device, wanted.count)
        self.device.launch("squared_error", wanted.count, losses, d_out, outs.pop(), wanted, wanted.count)
        for layer in reversed(self.layers):
            inputs = outs.pop()
            d_in = Tensor(self.device, inputs.count)
            self.matmul(d_in, d_out, layer.value, self.batch, self.width, self.width, 0, 1)
            self.device.launch("relu_backward", d_in.count, d_in, inputs, d_in.count)
            self.matmul(layer.gradient, inputs, d_out, self.width, self.width, self.batch, 1, 0)
            d_out = d_in
        return losses

    def matmul(self, out, a, b, rows, columns, inner, a_transposed, b_transposed):
        self.device.launch("matmul", out.count, out, a, b, rows, columns, inner, a_transposed, b_transposed)


def parse_settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, default, text in (("width", 128, "inputs and outputs of every layer"), ("layers", 8, "layers"),
                                ("batch", 16, "examples a step"), ("steps", 5, "training steps"),
                                ("seed", 1, "of the parameters and the task")):
        parser.add_argument(f"--{name}", type=int, default=default, help=text)
    parser.add_argument("--kernels", type=pathlib.Path, required=True, help="kernels.ptx")
    return parser.parse_args()


def main():
    settings = parse_settings()
    chance = random.Random(settings.seed)
    device = Device(settings.kernels)
    network = Network(device, settings, chance)
    count = settings.batch * settings.width
    inputs, wanted = uniform(chance, count, 1), uniform(chance, count, 1)
    for step in range(1, settings.steps + 1):
        loss = network.step(inputs, wanted)
        print(f"step {step} loss {loss:.6f} {loss.hex()}", flush=True)
    digest = hashlib.sha256()
    for layer in network.layers:
        digest.update(layer.value.to_host())
    print(f"parameters {sum(layer.value.count for layer in network.layers)} checksum {digest.hexdigest()[:16]}")
    print(f"peak live bytes {device.peak}")


if __name__ == "__main__":
    main()

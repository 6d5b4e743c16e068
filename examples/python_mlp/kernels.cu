// The kernels of train.py, built as PTX text that it loads itself; their names are C's, so that it can ask
// for them.
extern "C" {

__device__ int this_element() { return blockIdx.x * blockDim.x + threadIdx.x; }

// out[rows][columns] = a * b, each as it lies or transposed
__global__ void matmul(float* out, const float* a, const float* b, int rows, int columns, int inner,
                       int a_transposed, int b_transposed) {
  const int i = this_element();
  if (i >= rows * columns) return;
  const int row = i / columns;
  const int column = i % columns;
  float sum = 0.0F;
  for (int k = 0; k < inner; ++k) {
    const float left = a_transposed ? a[k * rows + row] : a[row * inner + k];
    const float right = b_transposed ? b[column * inner + k] : b[k * columns + column];
    sum += left * right;
  }
  out[i] = sum;
}

__global__ void relu(float* x, int count) {
  const int i = this_element();
  if (i < count) x[i] = fmaxf(x[i], 0.0F);
}

__global__ void relu_backward(float* d, const float* out, int count) {
  const int i = this_element();
  if (i < count && out[i] <= 0.0F) d[i] = 0.0F;
}

__global__ void squared_error(float* losses, float* d_out, const float* out, const float* wanted, int count) {
  const int i = this_element();
  if (i >= count) return;
  const float difference = out[i] - wanted[i];
  losses[i] = difference * difference / count;
  d_out[i] = 2.0F * difference / count;
}

__global__ void momentum_step(float* value, float* velocity, const float* gradient, int count,
                              float learning_rate, float momentum) {
  const int i = this_element();
  if (i >= count) return;
  const float v = momentum * velocity[i] + gradient[i];
  velocity[i] = v;
  value[i] -= learning_rate * v;
}

}  // extern "C"

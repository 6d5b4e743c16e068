// Matrix products of row-major matrices, and sums over rows. Called by the GPT and the MLP. Thread rule: any
// thread; work is enqueued on the stream. Failure rule: a refused launch ends the program.
//
// Every sum runs in a fixed order, so that results do not depend on streams or timing.
#pragma once

#include <cuda_runtime.h>

namespace examples {

enum class Form { kPlain, kTransposed };

// c[m, n] = a[m, k] b[k, n] + bias[n]. A transposed operand is stored the other way round; no bias if null.
void matmul(float* c, const float* a, Form a_form, const float* b, Form b_form, const float* bias, int m,
            int n, int k, cudaStream_t stream);

// sums[n] = sum over the rows of x[rows, n]
void sum_rows(float* sums, const float* x, int rows, int n, cudaStream_t stream);

}  // namespace examples

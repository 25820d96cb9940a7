// Fields of Gaussians: out[p, k] = sum over g of weight[g, k] * exp(-q/2), q = |L_g^-1 (x_p - mean_g)|^2, where L_g
// L_g^T is the covariance. Memory beside inputs and outputs never grows with P times G: on a device it is the
// caller's workspace, on the host the calling thread's, kept for its next call. Sums have a fixed order: the same bits
// each run on one machine. A pair whose exp(-q/2) is 0 counts nothing,
// nor in gradients, where its numbers would overflow.
#pragma once

#include <cstdint>

#include "kernels/tensor/array_view.h"

namespace saccade::tensor {

inline constexpr int kMostDimensions = 4;

// All without gaps, f32 or f64, on one device. An axis of batch stands before each.
struct GaussianArgs {
  const void* x;           // [B, P, D] points
  const void* mean;        // [B, G, D]
  const void* scale_tril;  // [B, G, D, D]: L; only the lower triangle is read, its diagonal isn't 0
  const void* weight;      // [B, G, K]
  void* out;               // [B, P, K]
  Dtype dtype;
  std::int32_t batch, points, gaussians, dimensions, channels;  // B, P, G, D, K
  double most_q;                                                // pairs whose q is greater count 0; infinity: all count
};

// Gradients; each may be null. The forward's `out` is not needed.
struct GaussianGradients {
  const void* out;   // [B, P, K]: comes in
  void* x;           // written
  void* mean;        // written: sum of gradient * exp(-q/2) * a, a = L^-T v, v = L^-1 (x - mean)
  void* scale_tril;  // written: dq/dL = -2 tril(a v^T)
  void* weight;      // written
};

namespace cpu {
// On up to `threads` threads, which change no bit.
void gaussian_field(const GaussianArgs& args, int threads = 1);
void gaussian_field_backward(const GaussianArgs& args, const GaussianGradients& gradients, int threads = 1);
// q of every pair: out is [B, P, G].
void mahalanobis(const GaussianArgs& args, int threads = 1);
}  // namespace cpu

namespace cuda {
// `stream`: a cudaStream_t of the current device. Throws when the launch fails. `workspace`: on the device, of
// gaussian_workspace_bytes(), for both directions.
std::size_t gaussian_workspace_bytes(const GaussianArgs& args);
void gaussian_field(const GaussianArgs& args, void* workspace, void* stream);
void gaussian_field_backward(const GaussianArgs& args, const GaussianGradients& gradients, void* workspace,
                             void* stream);
void mahalanobis(const GaussianArgs& args, void* stream);
}  // namespace cuda

}  // namespace saccade::tensor

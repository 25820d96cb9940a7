// The plain Gaussian field: every pair of a point and a Gaussian, as gaussian.h defines it.
#include "kernels/tensor/gaussian.h"

#include <cmath>
#include <vector>

#include "kernels/tensor/gaussian_math.h"

namespace saccade::tensor::cpu {
namespace {

template <class V, int D>
struct Field {
  const GaussianArgs& args;
  int b;
  std::vector<Whitening<V, D>> whitenings;

  Field(const GaussianArgs& given, int batch) : args(given), b(batch) {
    whitenings.reserve(static_cast<std::size_t>(args.gaussians));
    for (int g = 0; g < args.gaussians; ++g) {
      const std::int64_t at = static_cast<std::int64_t>(b) * args.gaussians + g;
      whitenings.push_back(make_whitening<V, D>(static_cast<const V*>(args.mean) + at * D,
                                                static_cast<const V*>(args.scale_tril) + at * D * D));
    }
  }

  std::int64_t row(int p) const { return static_cast<std::int64_t>(b) * args.points + p; }
  const V* point(int p) const { return static_cast<const V*>(args.x) + row(p) * D; }
  const V* weights(int g) const {
    return static_cast<const V*>(args.weight) + (static_cast<std::int64_t>(b) * args.gaussians + g) * args.channels;
  }
};

template <class V, int D>
void forward(const GaussianArgs& args) {
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    for (int p = 0; p < args.points; ++p) {
      V* out = static_cast<V*>(args.out) + field.row(p) * args.channels;
      for (int k = 0; k < args.channels; ++k) out[k] = V(0);
      for (int g = 0; g < args.gaussians; ++g) {
        V v[D];
        const V q = whiten<V, D>(field.whitenings[static_cast<std::size_t>(g)], field.point(p), v);
        if (q > static_cast<V>(args.most_q)) continue;
        const V e = std::exp(V(-0.5) * q);
        for (int k = 0; k < args.channels; ++k) out[k] += field.weights(g)[k] * e;
      }
    }
  }
}

template <class V, int D>
void backward(const GaussianArgs& args, const GaussianGradients& gradients) {
  constexpr int kTriangle = Whitening<V, D>::kTriangle;
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    const auto count = static_cast<std::size_t>(args.points);
    std::vector<V> dx(count * D, V(0));
    for (int g = 0; g < args.gaussians; ++g) {
      const Whitening<V, D>& gaussian = field.whitenings[static_cast<std::size_t>(g)];
      const std::int64_t at = static_cast<std::int64_t>(b) * args.gaussians + g;
      V mean[D] = {};
      V tril[kTriangle] = {};
      std::vector<V> weight(static_cast<std::size_t>(args.channels), V(0));
      for (int p = 0; p < args.points; ++p) {
        V v[D];
        V a[D];
        const V q = whiten<V, D>(gaussian, field.point(p), v);
        if (q > static_cast<V>(args.most_q)) continue;
        unwhiten<V, D>(gaussian, v, a);
        const V e = std::exp(V(-0.5) * q);
        const V* incoming = static_cast<const V*>(gradients.out) + field.row(p) * args.channels;
        V value = V(0);
        for (int k = 0; k < args.channels; ++k) {
          value += incoming[k] * field.weights(g)[k];
          weight[static_cast<std::size_t>(k)] += incoming[k] * e;
        }
        const V part = value * e;  // of exp(-q/2); dq/dx = 2 a
        for (int i = 0; i < D; ++i) {
          dx[static_cast<std::size_t>(p) * D + static_cast<std::size_t>(i)] -= part * a[i];
          mean[i] += part * a[i];
          for (int k = 0; k <= i; ++k) tril[triangle_at<D>(i, k)] += part * a[i] * v[k];
        }
      }
      if (gradients.mean != nullptr) {
        for (int i = 0; i < D; ++i) static_cast<V*>(gradients.mean)[at * D + i] = mean[i];
      }
      if (gradients.scale_tril != nullptr) {
        V* out = static_cast<V*>(gradients.scale_tril) + at * D * D;
        for (int i = 0; i < D; ++i) {
          for (int k = 0; k < D; ++k) out[i * D + k] = k <= i ? tril[triangle_at<D>(i, k)] : V(0);
        }
      }
      if (gradients.weight != nullptr) {
        for (int k = 0; k < args.channels; ++k) {
          static_cast<V*>(gradients.weight)[at * args.channels + k] = weight[static_cast<std::size_t>(k)];
        }
      }
    }
    if (gradients.x == nullptr) continue;
    V* out = static_cast<V*>(gradients.x) + field.row(0) * D;
    for (std::size_t i = 0; i < count * D; ++i) out[i] = dx[i];
  }
}

template <class V, int D>
void distances(const GaussianArgs& args) {
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    for (int p = 0; p < args.points; ++p) {
      V* out = static_cast<V*>(args.out) + field.row(p) * args.gaussians;
      V v[D];
      for (int g = 0; g < args.gaussians; ++g) {
        out[g] = whiten<V, D>(field.whitenings[static_cast<std::size_t>(g)], field.point(p), v);
      }
    }
  }
}

// call(V, D) for the type and the number of dimensions.
template <class Call>
void dispatch(const GaussianArgs& args, const Call& call) {
  const auto by_dimensions = [&]<class V>(V) {
    switch (args.dimensions) {
      case 1:
        return call.template operator()<V, 1>();
      case 2:
        return call.template operator()<V, 2>();
      case 3:
        return call.template operator()<V, 3>();
      case 4:
        return call.template operator()<V, 4>();
      default:
        return;
    }
  };
  args.dtype == Dtype::kF64 ? by_dimensions(double{}) : by_dimensions(float{});
}

}  // namespace

void gaussian_field(const GaussianArgs& args) {
  dispatch(args, [&]<class V, int D>() { forward<V, D>(args); });
}

void gaussian_field_backward(const GaussianArgs& args, const GaussianGradients& gradients) {
  dispatch(args, [&]<class V, int D>() { backward<V, D>(args, gradients); });
}

void mahalanobis(const GaussianArgs& args) {
  dispatch(args, [&]<class V, int D>() { distances<V, D>(args); });
}

}  // namespace saccade::tensor::cpu

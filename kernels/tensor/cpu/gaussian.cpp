// The plain Gaussian field: every pair of a point and a Gaussian, as gaussian.h defines it.
#include "kernels/tensor/gaussian.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/gaussian_math.h"

namespace saccade::tensor::cpu {
namespace {

template <class V>
constexpr V kNoNumber = std::numeric_limits<V>::quiet_NaN();

template <class V, int D>
struct Field {
  const GaussianArgs& args;
  int b;
  V most_q;
  const Whitening<V, D>* whitenings;  // the calling thread's memory, kept for its next call
  bool are_numbers = true;            // all Gaussians

  Field(const GaussianArgs& given, int batch) : args(given), b(batch), most_q(farthest_q<V>(given.most_q)) {
    thread_local std::vector<Whitening<V, D>> kept;
    kept.resize(std::max(kept.size(), static_cast<std::size_t>(args.gaussians)));
    for (int g = 0; g < args.gaussians; ++g) {
      const std::int64_t at = static_cast<std::int64_t>(b) * args.gaussians + g;
      Whitening<V, D>& made = kept[static_cast<std::size_t>(g)];
      made = make_whitening<V, D>(static_cast<const V*>(args.mean) + at * D,
                                  static_cast<const V*>(args.scale_tril) + at * D * D);
      are_numbers = are_numbers && saccade::tensor::are_numbers(made);
    }
    whitenings = kept.data();
  }

  std::int64_t row(int p) const { return static_cast<std::int64_t>(b) * args.points + p; }
  const V* point(int p) const { return static_cast<const V*>(args.x) + row(p) * D; }
  const V* weights(int g) const {
    return static_cast<const V*>(args.weight) + (static_cast<std::int64_t>(b) * args.gaussians + g) * args.channels;
  }
  // What the sums of a point begin with.
  V nothing_at(int p) const { return are_numbers && tensor::are_numbers(point(p), D) ? V(0) : kNoNumber<V>; }
};

constexpr std::int64_t kPairsForAThread = 1 << 14;

std::int64_t least_of(int others) { return kPairsForAThread / (others > 0 ? others : 1) + 1; }

template <class V, int D>
void forward(const GaussianArgs& args, int threads) {
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    parallel_for(args.points, least_of(args.gaussians), threads, [&](std::int64_t first, std::int64_t last) {
      for (int p = static_cast<int>(first); p < last; ++p) {
        V* out = static_cast<V*>(args.out) + field.row(p) * args.channels;
        for (int k = 0; k < args.channels; ++k) out[k] = field.nothing_at(p);
        for (int g = 0; g < args.gaussians; ++g) {
          V v[D];
          const V q = whiten<V, D>(field.whitenings[g], field.point(p), v);
          if (!(q <= field.most_q)) continue;
          const V e = std::exp(V(-0.5) * q);
          for (int k = 0; k < args.channels; ++k) out[k] += field.weights(g)[k] * e;
        }
      }
    });
  }
}

// What a pair gives back: e = exp(-q/2), and value = the gradient that comes in for it.
template <class V, int D>
struct PairBack {
  V v[D];
  V e = V(0), value = V(0);

  // false: it doesn't count
  bool set(const Field<V, D>& field, const V* incoming, int p, int g) {
    const V q = whiten<V, D>(field.whitenings[g], field.point(p), v);
    if (!(q <= field.most_q)) return false;
    e = std::exp(V(-0.5) * q);
    value = V(0);
    for (int k = 0; k < field.args.channels; ++k) value += incoming[k] * field.weights(g)[k];
    return true;
  }
};

template <class V, int D>
void back_to_point(const Field<V, D>& field, const GaussianGradients& gradients, int p) {
  const V* incoming = static_cast<const V*>(gradients.out) + field.row(p) * field.args.channels;
  V* out = static_cast<V*>(gradients.x) + field.row(p) * D;
  for (int i = 0; i < D; ++i) out[i] = field.nothing_at(p);
  PairBack<V, D> pair;
  for (int g = 0; g < field.args.gaussians; ++g) {
    if (!pair.set(field, incoming, p, g)) continue;
    V a[D];
    unwhiten<V, D>(field.whitenings[g], pair.v, a);
    for (int i = 0; i < D; ++i) out[i] -= pair.value * pair.e * a[i];  // dq/dx = 2 a
  }
}

template <class V, int D>
void back_to_gaussian(const Field<V, D>& field, const GaussianGradients& gradients, int g) {
  const GaussianArgs& args = field.args;
  const Whitening<V, D>& gaussian = field.whitenings[g];
  const V nothing = are_numbers(gaussian) ? V(0) : kNoNumber<V>;
  V moments[Moments<V, D>::kWords];
  std::fill(std::begin(moments), std::end(moments), nothing);
  const std::int64_t at = static_cast<std::int64_t>(field.b) * args.gaussians + g;
  V* __restrict weight = static_cast<V*>(gradients.weight);
  if (weight != nullptr) weight += at * args.channels;
  for (int k = 0; weight != nullptr && k < args.channels; ++k) weight[k] = nothing;
  PairBack<V, D> pair;
  for (int p = 0; p < args.points; ++p) {
    const V* incoming = static_cast<const V*>(gradients.out) + field.row(p) * args.channels;
    if (!pair.set(field, incoming, p, g)) continue;
    for (int k = 0; weight != nullptr && k < args.channels; ++k) weight[k] += incoming[k] * pair.e;
    add_moments<V, D>(pair.value * pair.e, pair.v, moments);
  }
  if (gradients.mean != nullptr) {
    unwhiten<V, D>(gaussian, moments, static_cast<V*>(gradients.mean) + at * D);
  }
  if (gradients.scale_tril != nullptr) {
    tril_gradient<V, D>(gaussian, moments, static_cast<V*>(gradients.scale_tril) + at * D * D);
  }
}

template <class V, int D>
void backward(const GaussianArgs& args, const GaussianGradients& gradients, int threads) {
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    if (gradients.x != nullptr) {
      parallel_for(args.points, least_of(args.gaussians), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) back_to_point<V, D>(field, gradients, static_cast<int>(p));
      });
    }
    if (gradients.mean == nullptr && gradients.scale_tril == nullptr && gradients.weight == nullptr) continue;
    parallel_for(args.gaussians, least_of(args.points), threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t g = first; g < last; ++g) back_to_gaussian<V, D>(field, gradients, static_cast<int>(g));
    });
  }
}

template <class V, int D>
void distances(const GaussianArgs& args, int threads) {
  for (int b = 0; b < args.batch; ++b) {
    const Field<V, D> field(args, b);
    parallel_for(args.points, least_of(args.gaussians), threads, [&](std::int64_t first, std::int64_t last) {
      for (int p = static_cast<int>(first); p < last; ++p) {
        V* out = static_cast<V*>(args.out) + field.row(p) * args.gaussians;
        V v[D];
        V sum = V(0);
        for (int g = 0; g < args.gaussians; ++g) {
          out[g] = whiten<V, D>(field.whitenings[g], field.point(p), v);
          sum += out[g];
        }
        if (sum == sum) continue;  // q is never below 0: all are numbers
        for (int g = 0; g < args.gaussians; ++g) out[g] = squared_distance<V, D>(field.whitenings[g], field.point(p));
      }
    });
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

void gaussian_field(const GaussianArgs& args, int threads) {
  dispatch(args, [&]<class V, int D>() { forward<V, D>(args, threads); });
}

void gaussian_field_backward(const GaussianArgs& args, const GaussianGradients& gradients, int threads) {
  dispatch(args, [&]<class V, int D>() { backward<V, D>(args, gradients, threads); });
}

void mahalanobis(const GaussianArgs& args, int threads) {
  dispatch(args, [&]<class V, int D>() { distances<V, D>(args, threads); });
}

}  // namespace saccade::tensor::cpu

// The tensor operations: arrays without data and levels that are not there are refused before anything is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/capi/tensors.h"

namespace saccade::test {
namespace {

using testing::HasSubstr;

std::string refusal(saccade_status status) {
  return status == SACCADE_ERROR_USAGE ? saccade_last_error() : "status " + std::to_string(status);
}

saccade_array without_data(saccade_array array) {
  array.data = nullptr;
  return array;
}

saccade_array empty_array(std::vector<std::int64_t> shape) {
  std::vector<float> none;
  return without_data(array_of(none, std::move(shape)));
}

TEST(TensorArguments, LevelWithoutData_IsRefused) {
  OneSample one;
  for (const std::size_t level : {0U, 1U}) {
    auto levels = one.levels;
    levels[level].data = nullptr;
    EXPECT_EQ(refusal(saccade_reduce(&kHost, levels.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0)),
              "saccade_reduce: an array has no data");
  }
  const saccade_array none = without_data(one.out);
  EXPECT_EQ(refusal(saccade_reduce_backward(&kHost, &none, one.levels.data(), 2, SACCADE_ODD_FLOOR, nullptr)),
            "saccade_reduce_backward: an array has no data");
}

TEST(TensorArguments, UpdateWithoutItsArrays_IsRefused) {
  OneSample one;
  saccade_update_options options{sizeof(saccade_update_options), 0, 0, SACCADE_ODD_FLOOR, SACCADE_MASK_DIFF, 0};
  std::uint8_t tile = 0;
  const auto update = [&](const saccade_array* frame, const saccade_array* mask, std::uint8_t* tiles) {
    return refusal(saccade_update(&kHost, one.levels.data(), 2, nullptr, 0, frame, mask, &options, tiles, nullptr));
  };
  const saccade_array none = without_data(one.out);
  EXPECT_EQ(update(nullptr, nullptr, &tile), "saccade_update: without a mask there must be a frame");
  EXPECT_EQ(update(&none, nullptr, &tile), "saccade_update: the frame has no data");
  EXPECT_EQ(update(&one.out, nullptr, nullptr), "saccade_update: tiles has no data");
  options.mask_kind = SACCADE_MASK_TILES;
  const saccade_array mask = empty_array({1, 1, 1});
  EXPECT_EQ(update(&one.out, nullptr, &tile), "saccade_update: the mask is NULL");
  EXPECT_EQ(update(&one.out, &mask, &tile), "saccade_update: the mask has no data");
}

// The calls that sample, with one array after the other lacking its data.
TEST(TensorArguments, SampleWithoutItsArrays_IsRefused) {
  const char* const names[] = {"centers has no data", "lod has no data", "the array of patches has no data"};
  for (int missing = 0; missing < 3; ++missing) {
    OneSample one;
    (missing == 0 ? one.centers : missing == 1 ? one.lods : one.incoming).data = nullptr;
    EXPECT_EQ(refusal(saccade_sample(&kHost, one.levels.data(), 2, &one.centers, &one.lods, nullptr, &one.options,
                                     &one.incoming)),
              std::string("saccade_sample: ") + names[missing]);
    EXPECT_EQ(
        refusal(saccade_sample_backward(&kHost, one.levels.data(), 2, &one.centers, &one.lods, nullptr, &one.options,
                                        &one.incoming, nullptr, 0, 1, nullptr, one.to_center.data(), nullptr, nullptr)),
        std::string("saccade_sample_backward: ") + names[missing]);
    EXPECT_EQ(refusal(one.back(sizeof(float))), std::string("saccade_sample_image_backward: ") + names[missing]);
  }
}

TEST(TensorArguments, ImageBackwardWithoutSums_IsRefused) {
  std::vector<float> fine(16), half(4), quarter(1), image(16);
  OneSample one;
  const std::array<saccade_array, 3> levels{array_of(fine, {1, 1, 4, 4}), array_of(half, {1, 1, 2, 2}),
                                            array_of(quarter, {1, 1, 1, 1})};
  const saccade_array out = array_of(image, {1, 1, 4, 4});
  const char* const text = "saccade_sample_image_backward: sums is smaller than the levels' sums";
  EXPECT_EQ(refusal(saccade_sample_image_backward(&kHost, levels.data(), 3, &one.centers, &one.lods, nullptr,
                                                  &one.options, &one.incoming, SACCADE_ODD_FLOOR, &out, nullptr, 20,
                                                  nullptr, nullptr, nullptr, nullptr)),
            text);
  EXPECT_EQ(refusal(one.back(sizeof(float) - 1)), text);
}

TEST(TensorArguments, LevelsThatAreNotThere_AreRefused) {
  OneSample one;
  std::vector<float> base(4), half(1);
  const std::array<saccade_array, 2> found{array_of(base, {1, 1, 2, 2}), array_of(half, {1, 1, 1, 1})};
  const auto back = [&](int first, int last) {
    return saccade_sample_backward(&kHost, one.levels.data(), 2, &one.centers, &one.lods, nullptr, &one.options,
                                   &one.incoming, found.data(), first, last, nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_THAT(refusal(back(-1, 1)), HasSubstr("first_level to last_level are not among the levels"));
  EXPECT_THAT(refusal(back(0, 2)), HasSubstr("first_level to last_level are not among the levels"));
  EXPECT_THAT(refusal(back(0, std::numeric_limits<int>::max())), HasSubstr("first_level"));
  EXPECT_THAT(refusal(back(std::numeric_limits<int>::min(), 0)), HasSubstr("first_level"));
  EXPECT_EQ(base, std::vector<float>(4));
  ASSERT_EQ(back(0, 1), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(base, std::vector<float>(4, 1)) << "a quarter of the half that level 0 has of 8";
  EXPECT_EQ(half[0], 4);
}

TEST(TensorArguments, StridesBeyondAllMemory_AreRefused) {
  OneSample one;
  for (const std::int64_t stride :
       {std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()}) {
    auto levels = one.levels;
    levels[0].stride[2] = stride;
    EXPECT_EQ(refusal(saccade_reduce(&kHost, levels.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0)),
              "saccade_reduce: a channel spans more than 2^31 elements")
        << stride;
  }
}

// One point and one Gaussian of one dimension and channel.
struct OneGaussian {
  float x = 0, mean = 0, tril = 1, weight = 2, out = -1, gradient = 1, found = -1;
  saccade_gaussians args{sizeof(saccade_gaussians),
                         &x,
                         &mean,
                         &tril,
                         &weight,
                         std::numeric_limits<double>::infinity(),
                         1,
                         1,
                         1,
                         1,
                         1,
                         SACCADE_F32};

  saccade_status field() { return saccade_gaussian_field(&kHost, &args, nullptr, &out); }
  saccade_status back(const void* incoming) {
    return saccade_gaussian_field_backward(&kHost, &args, incoming, nullptr, &found, nullptr, nullptr, nullptr);
  }
  saccade_status distances() { return saccade_mahalanobis(&kHost, &args, &out); }
};

TEST(TensorArguments, GaussiansWithoutTheirArrays_AreRefused) {
  using Field = const void* saccade_gaussians::*;
  const std::pair<Field, const char*> fields[] = {{&saccade_gaussians::x, "x"},
                                                  {&saccade_gaussians::mean, "mean"},
                                                  {&saccade_gaussians::scale_tril, "scale_tril"},
                                                  {&saccade_gaussians::weight, "weight"}};
  for (const auto& [field, name] : fields) {
    OneGaussian one;
    one.args.*field = nullptr;
    const std::string fault = std::string(name) + " has no data";
    EXPECT_EQ(refusal(one.field()), "saccade_gaussian_field: " + fault);
    EXPECT_EQ(refusal(one.back(&one.gradient)), "saccade_gaussian_field_backward: " + fault);
    if (field != &saccade_gaussians::weight) {
      EXPECT_EQ(refusal(one.distances()), "saccade_mahalanobis: " + fault);
    } else {
      EXPECT_EQ(one.distances(), SACCADE_OK) << "it reads no weights";
    }
  }
  OneGaussian one;
  EXPECT_EQ(refusal(one.back(nullptr)), "saccade_gaussian_field_backward: gradient has no data");
  EXPECT_EQ(refusal(saccade_gaussian_field(&kHost, &one.args, nullptr, nullptr)),
            "saccade_gaussian_field: out has no data");
  EXPECT_EQ(refusal(saccade_mahalanobis(&kHost, &one.args, nullptr)), "saccade_mahalanobis: out has no data");
  ASSERT_EQ(one.field(), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(one.out, 2);
}

TEST(TensorArguments, PlansWithoutTheirArrays_AreRefused) {
  const float fixation[2] = {0.5F, 0.5F}, at_px[2] = {1, 1};
  float centers[2] = {};
  const auto plan = [&](const void* fixations, const void* at, void* out) {
    return refusal(saccade_lattice_plan_at(&kHost, SACCADE_F32, fixations, 1, at, 1, 8, 8, 0, out));
  };
  EXPECT_EQ(plan(nullptr, at_px, centers), "saccade_lattice_plan_at: fixations has no data");
  EXPECT_EQ(plan(fixation, nullptr, centers), "saccade_lattice_plan_at: at_px has no data");
  EXPECT_EQ(plan(fixation, at_px, nullptr), "saccade_lattice_plan_at: centers has no data");
}

TEST(TensorArguments, EmptyArrays_NeedNoData) {
  OneSample one;
  const std::array<saccade_array, 2> none{empty_array({0, 1, 2, 2}), empty_array({0, 1, 1, 1})};
  EXPECT_EQ(saccade_reduce(&kHost, none.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(saccade_reduce_backward(&kHost, none.data(), none.data(), 2, SACCADE_ODD_FLOOR, nullptr), SACCADE_OK)
      << saccade_last_error();
  const saccade_update_options diff{sizeof(saccade_update_options), 0, 0, SACCADE_ODD_FLOOR, SACCADE_MASK_DIFF, 0};
  EXPECT_EQ(saccade_update(&kHost, none.data(), 2, nullptr, 0, none.data(), nullptr, &diff, nullptr, nullptr),
            SACCADE_OK)
      << saccade_last_error();
  const saccade_array centers = empty_array({1, 0, 2}), lods = empty_array({1, 0});
  const saccade_array patches = empty_array({1, 0, 1, 4, 4});
  EXPECT_EQ(saccade_sample(&kHost, one.levels.data(), 2, &centers, &lods, nullptr, &one.options, &patches), SACCADE_OK)
      << saccade_last_error();
  saccade_gaussians gaussians{};
  gaussians.struct_size = sizeof gaussians;
  gaussians.dimensions = 2;
  gaussians.dtype = SACCADE_F64;
  EXPECT_EQ(saccade_gaussian_field(&kHost, &gaussians, nullptr, nullptr), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(saccade_gaussian_field_backward(&kHost, &gaussians, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            SACCADE_OK)
      << saccade_last_error();
  EXPECT_EQ(saccade_mahalanobis(&kHost, &gaussians, nullptr), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(saccade_lattice_plan_at(&kHost, SACCADE_F32, nullptr, 0, nullptr, 3, 8, 8, 0, nullptr), SACCADE_OK)
      << saccade_last_error();
}

TEST(TensorArguments, WorkspaceOfSizesThatCantBe_IsNone) {
  OneSample one;
  saccade_array base = one.levels[0];
  base.shape[3] = -1;
  EXPECT_EQ(saccade_reduce_workspace_bytes(&base, 9), 0U);
  base.shape[3] = std::int64_t{1} << 40;
  EXPECT_EQ(saccade_reduce_workspace_bytes(&base, 9), 0U);
  base.shape[3] = 2;
  base.dtype = 99;
  EXPECT_EQ(saccade_reduce_workspace_bytes(&base, 9), 0U);
  EXPECT_EQ(saccade_reduce_workspace_bytes(nullptr, 9), 0U);
}

}  // namespace
}  // namespace saccade::test

// Where to look: what comes from outside in place of the scanpath.
#include <fmt/format.h>
#include <saccade/picture.h>

#include "capi/stream/stream.h"
#include "capi/structs.h"
#include "pipeline/gaze/allocate/allocator.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

AttentionMap attention_map(const char* function, const float* map, int height, int width, const float* uv_box) {
  if (height < 1 || width < 1) refuse(function, fmt::format("a map of {} x {} weights", height, width));
  AttentionMap attention;
  attention.rows = height;
  attention.cols = width;
  attention.weights.assign(map, map + static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
  if (uv_box == nullptr) return attention;
  attention.left_u = static_cast<double>(uv_box[0]);
  attention.top_v = static_cast<double>(uv_box[1]);
  attention.right_u = static_cast<double>(uv_box[2]);
  attention.bottom_v = static_cast<double>(uv_box[3]);
  return attention;
}

std::optional<GazePoint> ask(saccade_fixation_function function, void* user, const FixationRequest& request,
                             const SceneView& scene) {
  saccade_fixation_request asked{};
  asked.struct_size = sizeof asked;
  asked.fixation = request.index;
  asked.frame = scene.frame;
  asked.pts_ns = scene.pts_ns;
  asked.u = request.from.u;
  asked.v = request.from.v;
  asked.first = request.first ? 1 : 0;
  GazePoint answer;
  const saccade_status status = function(user, &asked, &answer.u, &answer.v);
  if (status == SACCADE_OK) return answer;
  if (status == SACCADE_LATER) return std::nullopt;
  throw CallerError(status < 0 ? status : SACCADE_ERROR_USAGE,
                    fmt::format("the fixation function returned {}", saccade_status_name(status)));
}

}  // namespace

saccade_status saccade_stream_look(saccade_stream* stream, float u, float v) {
  return change_stream(stream, "saccade_stream_look", [&](saccade_stream& opened) {
    opened.session("saccade_stream_look").look(u, v);
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_attend(saccade_stream* stream, const float* map, int height, int width,
                                     const float uv_box[4]) {
  constexpr const char* kFunction = "saccade_stream_attend";
  return change_stream(stream, kFunction, [&](saccade_stream& opened) {
    Session& session = opened.session(kFunction);
    if (map == nullptr) {
      session.attend(std::nullopt);
    } else {
      session.attend(attention_map(kFunction, map, height, width, uv_box));
    }
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_forget(saccade_stream* stream, const float uv_box[4]) {
  constexpr const char* kFunction = "saccade_stream_forget";
  return change_stream(stream, kFunction, [&](saccade_stream& opened) {
    Session& session = opened.session(kFunction);
    session.forget(uv_box == nullptr ? UvBox{} : UvBox{uv_box[0], uv_box[1], uv_box[2], uv_box[3]});
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_set_fixation(saccade_stream* stream, saccade_fixation_function function, void* user) {
  return change_stream(stream, "saccade_stream_set_fixation", [&](saccade_stream& opened) {
    if (function == nullptr) {
      opened.set_fixation({});
    } else {
      opened.set_fixation([function, user](const FixationRequest& request, const SceneView& scene) {
        return ask(function, user, request, scene);
      });
    }
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_set_scanpath(saccade_stream* stream, const double* t_u_v, std::size_t rows) {
  constexpr const char* kFunction = "saccade_stream_set_scanpath";
  return change_stream(stream, kFunction, [&](saccade_stream& opened) {
    if (rows == 0) {
      opened.set_scanpath(nullptr);
      return SACCADE_OK;
    }
    require(t_u_v != nullptr, kFunction, "t_u_v is NULL");
    require(rows <= SIZE_MAX / sizeof(double) / 3, kFunction, "there are too many rows");
    opened.set_scanpath(std::make_shared<const RecordedScanpath>(recorded_scanpath({t_u_v, rows * 3})));
    return SACCADE_OK;
  });
}

// Views of a stream, and the maps between them and the frame.
#include <saccade/views.h>

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "capi/error.h"
#include "capi/stream/stream.h"
#include "capi/stream/token_rules.h"
#include "capi/structs.h"
#include "pipeline/views/view.h"

using namespace saccade;
using namespace saccade::capi;

struct saccade_views {
  struct Picture {
    View view;
    std::vector<std::uint8_t> rgb;
  };
  TokenRule rule;
  FrameShape frame;
  int coded_width_px = 0, coded_height_px = 0;
  std::vector<Picture> pictures;
};

namespace {

// How a point is said: in which unit, of which picture, and in which space the frame's is.
struct Coordinates {
  Answer answer;
  Space space;
  ImageSize seen;  // 0: the view's own
};

const saccade_views& checked(const char* function, const saccade_views* views) {
  require(views != nullptr, function, "views is NULL");
  return *views;
}

const View& view_at(const char* function, const saccade_views& views, std::size_t index) {
  if (index >= views.pictures.size()) {
    refuse(function, fmt::format("there is no view {}; there are {}", index, views.pictures.size()));
  }
  return views.pictures[index].view;
}

Coordinates coordinates_of(const char* function, const saccade_views& views, const saccade_coordinates* coordinates) {
  if (coordinates == nullptr) return {views.rule.answer, Space::kFrame, {}};
  const saccade_coordinates asked = read(function, coordinates);
  require(asked.answer <= SACCADE_ANSWER_NORMALIZED, function, "there is no such answer");
  require(asked.space >= SACCADE_SPACE_FRAME && asked.space <= SACCADE_SPACE_UV, function, "there is no such space");
  require(asked.seen_width >= 0 && asked.seen_height >= 0 && (asked.seen_width > 0) == (asked.seen_height > 0),
          function, "seen_width and seen_height are both above 0, or both 0");
  const Coordinates out{asked.answer < 0 ? views.rule.answer : static_cast<Answer>(asked.answer),
                        static_cast<Space>(asked.space),
                        {asked.seen_width, asked.seen_height}};
  const bool upright = views.frame.rotation_deg % 180 == 0;
  const bool same = (upright ? views.coded_width_px : views.coded_height_px) == views.frame.width_px &&
                    (upright ? views.coded_height_px : views.coded_width_px) == views.frame.height_px;
  require(out.space != Space::kCoded || same, function,
          "the picture was cropped, scaled or filtered after decoding, so its coded pixels are not known; use frame");
  return out;
}

ImageSize seen_of(const Coordinates& coordinates, const View& view) {
  return coordinates.seen.width > 0 ? coordinates.seen : view.size;
}

FrameShape shape_of(const StreamInfo& info) {
  return {info.width_px, info.height_px, info.sar, info.rotation_deg, info.mirrored};
}

}  // namespace

saccade_status saccade_stream_views(saccade_stream* stream, const saccade_views_settings* settings,
                                    saccade_views** out) {
  constexpr const char* kFunction = "saccade_stream_views";
  return change_stream(stream, kFunction, [&](saccade_stream& opened) {
    require(out != nullptr, kFunction, "out is NULL");
    *out = nullptr;
    const saccade_views_settings asked = read(kFunction, settings);
    Session& session = opened.session(kFunction);
    auto views = std::make_unique<saccade_views>();
    views->rule = rule_of(kFunction, asked.rule);
    views->frame = shape_of(session.info());
    views->coded_width_px = session.info().coded_width_px;
    views->coded_height_px = session.info().coded_height_px;
    std::optional<GazePoint> look;
    if (asked.has_look != 0) look = GazePoint{asked.look_u, asked.look_v};
    for (const View& view : session.choose_views(views->rule, asked.tokens, look, asked.new_only != 0)) {
      auto& picture = views->pictures.emplace_back();
      picture.view = view;
      picture.rgb.resize(static_cast<std::size_t>(view.size.width) * static_cast<std::size_t>(view.size.height) * 3);
      session.read_view(view, picture.rgb);
    }
    *out = views.release();
    return SACCADE_OK;
  });
}

void saccade_views_free(saccade_views* views) { delete views; }

saccade_status saccade_views_count(const saccade_views* views, std::size_t* count) {
  constexpr const char* kFunction = "saccade_views_count";
  return guarded([&] {
    require(count != nullptr, kFunction, "count is NULL");
    *count = checked(kFunction, views).pictures.size();
    return SACCADE_OK;
  });
}

saccade_status saccade_views_get(const saccade_views* views, std::size_t index, saccade_view* out) {
  constexpr const char* kFunction = "saccade_views_get";
  return guarded([&] {
    const View& view = view_at(kFunction, checked(kFunction, views), index);
    const std::vector<std::uint8_t>& rgb = views->pictures[index].rgb;
    saccade_view found{};
    found.rgb = rgb.data();
    found.rgb_bytes = rgb.size();
    found.reason = name(view.reason);
    found.scale = 1.0 / (1 << view.level);
    found.width = view.size.width;
    found.height = view.size.height;
    found.level = view.level;
    found.tokens = view.tokens;
    found.box_x = view.box.x;
    found.box_y = view.box.y;
    found.box_width = view.box.width;
    found.box_height = view.box.height;
    fill(kFunction, out, found);
    return SACCADE_OK;
  });
}

saccade_status saccade_views_to_frame(const saccade_views* views, std::size_t index,
                                      const saccade_coordinates* coordinates, double x, double y, double* frame_x,
                                      double* frame_y) {
  constexpr const char* kFunction = "saccade_views_to_frame";
  return guarded([&] {
    require(frame_x != nullptr && frame_y != nullptr, kFunction, "frame_x or frame_y is NULL");
    const View& view = view_at(kFunction, checked(kFunction, views), index);
    const Coordinates as = coordinates_of(kFunction, *views, coordinates);
    const PointPx in_frame = view_to_frame(view.box, seen_of(as, view), as.answer, {x, y});
    const PointPx at = to_space(views->frame, as.space, in_frame);
    *frame_x = at.x;
    *frame_y = at.y;
    return SACCADE_OK;
  });
}

saccade_status saccade_views_from_frame(const saccade_views* views, std::size_t index,
                                        const saccade_coordinates* coordinates, double frame_x, double frame_y,
                                        double* x, double* y) {
  constexpr const char* kFunction = "saccade_views_from_frame";
  return guarded([&] {
    require(x != nullptr && y != nullptr, kFunction, "x or y is NULL");
    const View& view = view_at(kFunction, checked(kFunction, views), index);
    const Coordinates as = coordinates_of(kFunction, *views, coordinates);
    const PointPx in_frame = from_space(views->frame, as.space, {frame_x, frame_y});
    const PointPx at = frame_to_view(view.box, seen_of(as, view), as.answer, in_frame);
    *x = at.x;
    *y = at.y;
    return SACCADE_OK;
  });
}

saccade_status saccade_views_find(const saccade_views* views, const saccade_coordinates* coordinates, double frame_x,
                                  double frame_y, std::size_t* index) {
  constexpr const char* kFunction = "saccade_views_find";
  return guarded([&] {
    require(index != nullptr, kFunction, "index is NULL");
    const Coordinates as = coordinates_of(kFunction, checked(kFunction, views), coordinates);
    const PointPx at = from_space(views->frame, as.space, {frame_x, frame_y});
    saccade_status found = SACCADE_END;
    for (std::size_t i = 0; i < views->pictures.size(); ++i) {
      const View& view = views->pictures[i].view;
      if (!contains(view.box, at)) continue;
      if (found == SACCADE_OK && view.level >= views->pictures[*index].view.level) continue;
      *index = i;
      found = SACCADE_OK;
    }
    return found;
  });
}

// Views for models: pictures of the texture as it is.
#include <fmt/format.h>

#include "pipeline/error.h"
#include "pipeline/run/pipeline_state.h"
#include "pipeline/run/session.h"
#include "pipeline/views/crops.h"

namespace saccade {

std::vector<View> Pipeline::choose_views(const TokenRule& rule, int tokens, const std::optional<GazePoint>& look,
                                         bool new_only) {
  if (!has_frame()) throw UsageError("views: no frame was taken yet; take an emission or push a frame first");
  check_rule(rule);
  const int least = least_tokens(rule);
  if (tokens < least) throw UsageError(fmt::format("views: {} tokens; one picture takes {} or more", tokens, least));
  State& s = *state_;
  const ImageSize frame{s.layout.width_px, s.layout.height_px};
  ViewRequest request{.rule = rule, .tokens = tokens, .new_only = new_only, .look = {}};
  if (look) {
    if (!(look->u >= 0 && look->u <= 1 && look->v >= 0 && look->v <= 1)) {
      throw UsageError(fmt::format("views: look at {}, {}: both lie between 0 and 1", look->u, look->v));
    }
    const PointPx at{static_cast<double>(look->u) * frame.width, static_cast<double>(look->v) * frame.height};
    request.look = ViewRequest::Look{at, s.lattice->fovea()};
  }
  return guard_device([&] {
    if (!s.views) {
      s.views = std::make_unique<ViewChooser>(s.texture->make_held_picture({}), s.layout.tiles, frame);
    }
    return s.views->choose(request);
  });
}

void Pipeline::forget_views() {
  if (state_) state_->views.reset();
}

void Pipeline::read_view(const View& view, std::span<std::uint8_t> out) {
  guard_device([&] { saccade::read_view(*state_->texture, state_->color, view, out); });
}

std::vector<View> Session::choose_views(const TokenRule& rule, int tokens, const std::optional<GazePoint>& look,
                                        bool new_only) {
  return pipeline_->choose_views(rule, tokens, look, new_only);
}

std::vector<View> Session::choose_views(const ViewsChoice& choice) {
  const TokenRule& rule = find_rule(choice.model)->rule;
  if (choice.tokens < least_tokens(rule)) return {};  // a slider of the viewer's: options are refused earlier
  return choose_views(rule, choice.tokens, std::nullopt, choice.new_only);
}

}  // namespace saccade

#include "pipeline/source/screen/x11_capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/shm.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"

namespace saccade::x11 {
namespace {

constexpr std::int64_t kTyping_ns = 500'000'000;  // from a key to what it draws

}  // namespace

// A picture's worth of memory that the server writes. Not attached: the server can't.
class SharedMemory {
 public:
  SharedMemory(const Connection& connection, std::size_t bytes) : connection_(connection) {
    if (!connection.find("MIT-SHM")) return;
    const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    if (id < 0) return;
    void* const data = shmat(id, nullptr, 0);
    if (data != reinterpret_cast<void*>(-1)) {
      data_ = static_cast<std::uint8_t*>(data);
      segment_ = xcb_generate_id(connection.get());
      const auto cookie = xcb_shm_attach_checked(connection.get(), segment_, static_cast<std::uint32_t>(id), 0);
      attached_ = !Reply<xcb_generic_error_t>(xcb_request_check(connection.get(), cookie));
    }
    shmctl(id, IPC_RMID, nullptr);  // it goes with the last who has it
  }
  ~SharedMemory() {
    if (attached_) xcb_shm_detach(connection_.get(), segment_);
    if (data_ != nullptr) shmdt(data_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  bool attached() const { return attached_; }
  xcb_shm_seg_t segment() const { return segment_; }
  const std::uint8_t* data() const { return data_; }

 private:
  const Connection& connection_;
  std::uint8_t* data_ = nullptr;
  xcb_shm_seg_t segment_ = 0;
  bool attached_ = false;
};

Capture::Capture(const ScreenName& name, const std::string& uri, int width_px, int height_px, const Log& log)
    : ScreenCapture(uri, log), connection_(name.display, uri), hidden_windows_(name.hidden_windows) {
  xcb_connection_t* const c = connection_.get();
  damage_event_ = connection_.need("DAMAGE")->first_event;
  fixes_event_ = connection_.need("XFIXES")->first_event;
  Reply<void>(xcb_damage_query_version_reply(c, xcb_damage_query_version(c, 1, 1), nullptr));
  Reply<void>(xcb_xfixes_query_version_reply(c, xcb_xfixes_query_version(c, 5, 0), nullptr));
  find_area(name);
  if (const std::string hidden = describe_hidden(name); !hidden.empty()) text_ += fmt::format(", where {}", hidden);
  hidden_regions_ = name.hidden_regions;
  picture_ = ScreenPicture(width_px > 0 ? width_px : area_.width, height_px > 0 ? height_px : area_.height);
  if (const auto randr = connection_.find("RANDR")) {
    randr_event_ = randr->first_event;
    xcb_randr_select_input(c, connection_.screen().root,
                           XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE);
  }
  saver_event_ = select_saver_events(connection_);
  start_memory();
  damage_ = xcb_generate_id(c);
  const xcb_drawable_t watched = window_ != XCB_NONE ? window_ : connection_.screen().root;
  xcb_damage_create(c, damage_, watched, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
  region_ = xcb_generate_id(c);
  xcb_xfixes_create_region(c, region_, 0, nullptr);
  draws_pointer_ = name.pointer;
  gives_cues_ = name.cues;
  start_input();
  xcb_flush(c);
}

Capture::~Capture() = default;

void Capture::find_area(const ScreenName& name) {
  const PixelRect screen = connection_.area();
  source_ = connection_.screen().root;
  check_visual(connection_.screen().root_visual);
  area_ = screen;
  if (!name.window.empty()) return find_window(name.window);
  if (name.region) {
    area_ = *name.region;
    if (common(area_, screen) != area_) {
      throw InputError(fmt::format("{}: the region {},{},{},{} does not lie on the screen, which has {}x{} pixels",
                                   uri_, area_.x, area_.y, area_.width, area_.height, screen.width, screen.height));
    }
    text_ = fmt::format("a region of {}x{} at {},{}", area_.width, area_.height, area_.x, area_.y);
    return;
  }
  if (name.output.empty()) {
    whole_screen_ = true;
    text_ = "the whole screen";
    return;
  }
  std::vector<std::string> names;
  for (const Output& output : outputs(connection_)) {
    if (output.name == name.output) {
      output_ = output.name;
      area_ = output.area;
      text_ = fmt::format("output {}", output.name);
      return;
    }
    names.push_back(output.name);
  }
  throw InputError(fmt::format("{}: there is no output '{}'; there is: {}", uri_, name.output,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

void Capture::find_window(const std::string& wanted) {
  xcb_connection_t* const c = connection_.get();
  const std::vector<Window> all = windows(connection_);
  std::vector<Window> found;
  if (const auto id = window_number(wanted)) {
    found.push_back({*id, wanted, 0, 0});
  } else {
    const auto by_title = [&](auto&& fits) {
      for (const Window& window : all) {
        if (fits(window.title)) found.push_back(window);
      }
    };
    by_title([&](const std::string& title) { return title == wanted; });
    if (found.empty()) by_title([&](const std::string& title) { return title.find(wanted) != std::string::npos; });
  }
  std::vector<std::string> titles;
  for (const Window& window : found.empty() ? all : found) {
    titles.push_back(fmt::format("0x{:x} '{}'", window.id, window.title));
  }
  if (found.size() != 1) {
    throw InputError(fmt::format("{}: {} windows have '{}' in their title; {}: {}", uri_, found.size(), wanted,
                                 found.empty() ? "those shown are" : "give one's number",
                                 titles.empty() ? "none" : fmt::format("{}", fmt::join(titles, ", "))));
  }
  window_ = found[0].id;
  const Reply<xcb_get_window_attributes_reply_t> attributes(
      xcb_get_window_attributes_reply(c, xcb_get_window_attributes(c, window_), nullptr));
  if (!attributes || attributes->map_state != XCB_MAP_STATE_VIEWABLE) {
    throw InputError(fmt::format("{}: there is no window {} that is shown", uri_, wanted));
  }
  check_visual(attributes->visual);
  connection_.need("Composite");
  Reply<void>(xcb_composite_query_version_reply(c, xcb_composite_query_version(c, 0, 4), nullptr));
  xcb_composite_redirect_window(c, window_, XCB_COMPOSITE_REDIRECT_AUTOMATIC);
  const std::uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
  xcb_change_window_attributes(c, window_, XCB_CW_EVENT_MASK, &events);
  name_pixmap();
  text_ = fmt::format("window 0x{:x} '{}'", window_, found[0].title);
}

// Of the window's own pixels, whatever lies over it. A new one after each change of its size.
void Capture::name_pixmap() {
  xcb_connection_t* const c = connection_.get();
  const Reply<xcb_get_geometry_reply_t> geometry(xcb_get_geometry_reply(c, xcb_get_geometry(c, window_), nullptr));
  if (!geometry) {
    gone_ = true;
    return;
  }
  if (source_ != XCB_NONE && source_ != connection_.screen().root) xcb_free_pixmap(c, source_);
  source_ = xcb_generate_id(c);
  const auto cookie = xcb_composite_name_window_pixmap_checked(c, window_, source_);
  gone_ = static_cast<bool>(Reply<xcb_generic_error_t>(xcb_request_check(c, cookie)));
  if (gone_) source_ = XCB_NONE;
  area_ = {geometry->border_width, geometry->border_width, geometry->width, geometry->height};
}

void Capture::check_visual(xcb_visualid_t visual) const {
  const xcb_setup_t* const setup = xcb_get_setup(connection_.get());
  for (auto depth = xcb_screen_allowed_depths_iterator(&connection_.screen()); depth.rem > 0; xcb_depth_next(&depth)) {
    for (auto at = xcb_depth_visuals_iterator(depth.data); at.rem > 0; xcb_visualtype_next(&at)) {
      if (at.data->visual_id != visual) continue;
      const bool rgb = at.data->red_mask == 0xff0000 && at.data->green_mask == 0xff00 && at.data->blue_mask == 0xff;
      if (rgb && setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST && depth.data->depth >= 24) return;
      throw UnavailableError(
          fmt::format("{}: its colours have {} bits a pixel; only 8 bits each of red, green and blue "
                      "can be captured",
                      uri_, depth.data->depth));
    }
  }
}

void Capture::start_memory() {
  memory_ = std::make_unique<SharedMemory>(connection_, picture_.bytes());
  if (!memory_->attached())
    log_.info("{}: the X server shares no memory with this process: pixels come by its socket", uri_);
}

// Note [No keys]
// The server is asked to report that keys are pressed. Its reports name the key; nothing here reads that, and only the
// time of the last one is kept. With cues=no it is not asked.
void Capture::start_input() {
  if (!draws_pointer_ && !gives_cues_) return;
  xcb_connection_t* const c = connection_.get();
  const xcb_window_t root = connection_.screen().root;
  if (draws_pointer_) xcb_xfixes_select_cursor_input(c, root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR);
  if (!connection_.find("XInputExtension")) return;
  // From 2.1 on moves are reported while another program holds the pointer, as in each drag and menu.
  Reply<void>(xcb_input_xi_query_version_reply(c, xcb_input_xi_query_version(c, 2, 1), nullptr));
  struct {
    xcb_input_event_mask_t head;
    std::uint32_t events;
  } wanted{{XCB_INPUT_DEVICE_ALL_MASTER, 1}, 0};
  if (draws_pointer_) wanted.events |= XCB_INPUT_XI_EVENT_MASK_RAW_MOTION;
  if (gives_cues_) wanted.events |= XCB_INPUT_XI_EVENT_MASK_RAW_KEY_PRESS;
  xcb_input_xi_select_events(c, root, 1, &wanted.head);
}

bool Capture::wait(std::chrono::milliseconds longest) {
  xcb_flush(connection_.get());
  const auto take_all = [this] {
    bool any = false;
    while (const Reply<xcb_generic_event_t> event{xcb_poll_for_event(connection_.get())}) {
      take(*event);
      any = true;
    }
    return any;
  };
  if (!take_all() && longest.count() > 0) {
    std::array<pollfd, 2> files{{{xcb_get_file_descriptor(connection_.get()), POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
    poll(files.data(), files.size(), static_cast<int>(longest.count()));
    take_all();
  }
  return !connection_.is_lost();
}

void Capture::take(const xcb_generic_event_t& event) {
  const int type = event.response_type & 0x7f;
  if (type == damage_event_ + XCB_DAMAGE_NOTIFY) {
    damaged_ = true;
  } else if (type == fixes_event_ + XCB_XFIXES_CURSOR_NOTIFY) {
    pointer_moved_ = draws_pointer_;
  } else if (type == XCB_GE_GENERIC) {
    const auto& input = reinterpret_cast<const xcb_ge_generic_event_t&>(event);
    if (input.event_type == XCB_INPUT_RAW_KEY_PRESS) {
      key_ns_ = steady_now_ns();
    } else {
      pointer_moved_ = draws_pointer_;
    }
  } else if (randr_event_ != 0 &&
             (type == randr_event_ + XCB_RANDR_SCREEN_CHANGE_NOTIFY || type == randr_event_ + XCB_RANDR_NOTIFY)) {
    moved_ = true;
  } else if (saver_event_ != 0 && type == saver_event_) {
    const bool blank = event.pad0 != 0;
    if (blank != blank_) {
      log_.warn("{}: the screen saver is {}", uri_,
                blank ? "on: what is captured may be black or locked" : "off again");
    }
    blank_ = blank;
  } else if (type == XCB_CONFIGURE_NOTIFY || type == XCB_MAP_NOTIFY || type == XCB_UNMAP_NOTIFY ||
             type == XCB_DESTROY_NOTIFY) {
    moved_ = window_ != XCB_NONE;
  }
}

// The part of the picture that shows the source.
PixelRect Capture::seen() const {
  return {0, 0, std::min(picture_.width_px(), area_.width), std::min(picture_.height_px(), area_.height)};
}

PixelRect Capture::clipped(const PixelRect& rect) const { return common(rect, seen()); }

// What of the root is captured, and where that is now.
void Capture::find_screen_area() {
  xcb_connection_t* const c = connection_.get();
  const Reply<xcb_get_geometry_reply_t> root(
      xcb_get_geometry_reply(c, xcb_get_geometry(c, connection_.screen().root), nullptr));
  if (!root) return;
  const PixelRect screen{0, 0, root->width, root->height};
  if (whole_screen_) {
    area_ = screen;
  } else if (!output_.empty()) {
    const std::vector<Output> all = outputs(connection_);
    const auto at = std::find_if(all.begin(), all.end(), [this](const Output& o) { return o.name == output_; });
    gone_ = at == all.end();
    if (!gone_) area_ = common(at->area, screen);
  } else {
    area_ = common({area_.x, area_.y, picture_.width_px(), picture_.height_px()}, screen);
  }
}

// The screen or the window has another size, or is there no more.
void Capture::follow_area(std::vector<PixelRect>& changed) {
  const PixelRect before = area_;
  const bool was_gone = gone_;
  if (window_ != XCB_NONE) {
    name_pixmap();
  } else {
    find_screen_area();
  }
  if (gone_ && !was_gone) log_.warn("{}: {} is not shown; the picture stays as it was", uri_, text_);
  if (!gone_ && was_gone) log_.warn("{}: {} is shown again", uri_, text_);
  if (gone_) return;
  if (area_.width != before.width || area_.height != before.height) {
    report_size(std::max(area_.width, 0), std::max(area_.height, 0));
  }
  picture_.blacken();
  changed.push_back(picture_.area());
}

// What is hidden may have moved, and a window may have become one that is.
void Capture::follow_hidden(std::vector<PixelRect>& changed) {
  if (hidden_regions_.empty() && !hidden_windows_.any()) return;
  std::vector<PixelRect> hidden = hidden_regions_;
  const std::vector<PixelRect> boxes = hidden_windows_.boxes(connection_);
  hidden.insert(hidden.end(), boxes.begin(), boxes.end());
  if (window_ == XCB_NONE) {
    for (PixelRect& rect : hidden) rect = {rect.x - area_.x, rect.y - area_.y, rect.width, rect.height};
  }
  const std::vector<PixelRect>& before = picture_.hidden();
  if (hidden == before) return;
  const auto note_new = [&](const std::vector<PixelRect>& from, const std::vector<PixelRect>& to) {
    for (const PixelRect& rect : to) {
      if (std::find(from.begin(), from.end(), rect) != from.end()) continue;
      if (const PixelRect inside = clipped(rect); !is_empty(inside)) changed.push_back(inside);
    }
  };
  note_new(before, hidden);
  note_new(hidden, before);
  picture_.hide(std::move(hidden));
}

void Capture::take_damage(std::vector<PixelRect>& changed) {
  xcb_connection_t* const c = connection_.get();
  xcb_damage_subtract(c, damage_, XCB_NONE, region_);
  const Reply<xcb_xfixes_fetch_region_reply_t> region(
      xcb_xfixes_fetch_region_reply(c, xcb_xfixes_fetch_region(c, region_), nullptr));
  if (!region) return;
  const xcb_rectangle_t* const rects = xcb_xfixes_fetch_region_rectangles(region.get());
  const int border = window_ != XCB_NONE ? area_.x : 0;  // the window's own pixels begin behind it
  for (int n = 0; n < xcb_xfixes_fetch_region_rectangles_length(region.get()); ++n) {
    const xcb_rectangle_t& rect = rects[n];
    const PixelRect inside =
        clipped({rect.x - (area_.x - border), rect.y - (area_.y - border), rect.width, rect.height});
    if (!is_empty(inside)) changed.push_back(inside);
  }
}

// What the picture shows, on the root. None: the window has gone.
std::optional<PixelRect> Capture::shown_part() const {
  if (window_ == XCB_NONE) return area_;
  xcb_connection_t* const c = connection_.get();
  const Reply<xcb_translate_coordinates_reply_t> at(xcb_translate_coordinates_reply(
      c, xcb_translate_coordinates(c, window_, connection_.screen().root, 0, 0), nullptr));
  if (!at) return std::nullopt;
  return PixelRect{at->dst_x, at->dst_y, area_.width, area_.height};
}

// Which part of the picture has the keyboard's focus, and whether it is typed into.
void Capture::follow_focus() {
  cues_.weigh = gives_cues_;
  if (!gives_cues_) return;
  cues_.focus.reset();
  const auto part = shown_part();
  if (auto box = focused_box(connection_); part && box) {
    box = clipped({box->x - part->x, box->y - part->y, box->width, box->height});
    if (!is_empty(*box)) cues_.focus = box;
  }
  cues_.typing = key_ns_ != 0 && steady_now_ns() - key_ns_ <= kTyping_ns;
}

// Asks where the pointer is and how it looks. Some of its moves are told by no event (XWarpPointer). False: as before.
bool Capture::ask_pointer() {
  xcb_connection_t* const c = connection_.get();
  point_nowhere();
  const Reply<xcb_xfixes_get_cursor_image_reply_t> image(
      xcb_xfixes_get_cursor_image_reply(c, xcb_xfixes_get_cursor_image(c), nullptr));
  if (!image) return false;
  const auto part = shown_part();
  if (!part) return false;
  const int x_px = image->x - part->x, y_px = image->y - part->y;
  point_at(x_px, y_px, seen());
  const PixelRect now{x_px - image->xhot, y_px - image->yhot, image->width, image->height};
  if (now == pointer_at_ && image->cursor_serial == pointer_serial_) return false;
  pointer_at_ = now;
  pointer_serial_ = image->cursor_serial;
  const std::uint32_t* const pixels = xcb_xfixes_get_cursor_image_cursor_image(image.get());
  pointer_.assign(pixels, pixels + std::ptrdiff_t{image->width} * image->height);
  return true;
}

// Where the pointer is to be drawn, and where it was. False: what is drawn of it stays.
bool Capture::follow_pointer(std::vector<PixelRect>& changed) {
  const bool is_new = ask_pointer();
  if (!draws_pointer_) return false;
  const bool covered = std::any_of(changed.begin(), changed.end(),
                                   [this](const PixelRect& rect) { return !is_empty(common(rect, pointer_area_)); });
  if (!is_new && !covered) return false;
  if (!is_empty(pointer_area_)) changed.push_back(pointer_area_);
  pointer_area_ = clipped(pointer_at_);
  if (!is_empty(pointer_area_)) changed.push_back(pointer_area_);
  return true;
}

std::vector<PixelRect> Capture::read() {
  std::vector<PixelRect> changed;
  const GrabbedServer grabbed(connection_, hidden_windows_.any());
  if (moved_) follow_area(changed);
  follow_hidden(changed);
  if (damaged_) take_damage(changed);
  if (gone_) {
    damaged_ = moved_ = pointer_moved_ = false;
    cues_ = {};
    return {};
  }
  follow_focus();
  const bool draw = follow_pointer(changed);
  damaged_ = moved_ = pointer_moved_ = false;
  merge_if_many(changed);
  for (const PixelRect& rect : changed) read_pixels(clipped(rect));
  if (draw) picture_.draw(pointer_, pointer_at_, pointer_area_);
  return changed;
}

void Capture::read_pixels(const PixelRect& rect) {
  if (is_empty(rect)) return;
  xcb_connection_t* const c = connection_.get();
  const auto x = static_cast<std::int16_t>(area_.x + rect.x), y = static_cast<std::int16_t>(area_.y + rect.y);
  const auto width = static_cast<std::uint16_t>(rect.width), height = static_cast<std::uint16_t>(rect.height);
  const std::ptrdiff_t pitch_bytes = std::ptrdiff_t{rect.width} * 4;
  constexpr std::uint32_t kAllPlanes = ~std::uint32_t{0};
  if (memory_->attached()) {
    const auto cookie = xcb_shm_get_image(c, source_, x, y, width, height, kAllPlanes, XCB_IMAGE_FORMAT_Z_PIXMAP,
                                          memory_->segment(), 0);
    const Reply<xcb_shm_get_image_reply_t> reply(xcb_shm_get_image_reply(c, cookie, nullptr));
    if (reply) picture_.copy(memory_->data(), pitch_bytes, rect);
    return;
  }
  const auto cookie = xcb_get_image(c, XCB_IMAGE_FORMAT_Z_PIXMAP, source_, x, y, width, height, kAllPlanes);
  const Reply<xcb_get_image_reply_t> reply(xcb_get_image_reply(c, cookie, nullptr));
  if (reply) picture_.copy(xcb_get_image_data(reply.get()), pitch_bytes, rect);
}

}  // namespace saccade::x11

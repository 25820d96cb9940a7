// Which frame is shown when: playing, pausing, seeking, stepping, the end, and files that take another's place. The
// window and the pictures without one play by it; it knows neither.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/run/pacer.h"
#include "ui/viewer/feed_jobs.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

struct PlaybackConfig {
  SourceConfig source;
  std::optional<QueuePolicy> queue_policy;                 // none: as the source needs it
  OpenFeed open = open_video;                              // how a source is opened
  std::function<std::int64_t()> clock_ns = steady_now_ns;  // steady
};

// The viewer's thread.
class Playback {
 public:
  // viewer outlives it. wake: called on any thread when advance() has something to do before wait_s() is over.
  Playback(Viewer& viewer, const PlaybackConfig& config, std::function<void()> wake);
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;

  // Another source; what is shown goes on until the first frame of the new one is there.
  void open();                       // config.source
  void open_file(std::string path);  // with none of its settings but threads
  void play(OpenedFeed opened);      // one that is open, and has its first frame

  // Shows the frame that is due. True: there was one. Throws InputError when the first source can't be opened, and
  // Error when its first frame can't be shown.
  bool advance();
  // Shows every frame up to this time, whatever the clock says; fewer when `stopped`.
  void show_until(std::int64_t pts_ns, const std::function<bool()>& stopped);
  // How long nothing happens by itself; below 0: until `wake`, or until settings or requests change.
  double wait_s();

  // Nobody looks: a file stands still, and what a live source sends is dropped.
  void hold(bool on);
  void take(const ViewRequests& requests);  // seeks, steps and the settings' reset; the others are not its business
  void apply_settings();                    // of the viewer: speed
  void refresh_facts();                     // those that change between frames
  void finish();                            // no frame comes any more; what was damaged is known
  void say(std::string message);            // for the person, and for the log
  void expire_texts();                      // message and note
  bool take_redraw() { return std::exchange(redraw_, false); }  // something changed that is no frame
  const std::string& uri() const { return source_.uri; }        // of the newest source that was to be opened

 private:
  void finish_jobs();
  void show(Frame frame, bool sought);
  void show_wanted();
  void show_due();
  bool fetch_next();
  void follow_settings();
  void begin_again();
  void note_stall();
  std::string waited_for(std::int64_t now_ns);
  void note_damage(const SourceCounters& counters);
  void note_end();
  void reach_end();
  void seek(std::int64_t pts_ns);
  void step_by(int frames);
  void step_once();
  Feed* feed() { return jobs_.seeking() ? nullptr : viewer_.feed(); }  // null: none yet, or it seeks
  bool is_live() const { return viewer_.facts.stream != nullptr && viewer_.facts.stream->live; }
  bool playing() const {
    return !viewer_.settings.paused && !viewer_.facts.time.ended && !scrubbing_ && (!held_ || is_live());
  }

  Viewer& viewer_;
  SourceConfig source_;
  const std::function<std::int64_t()> clock_ns_;
  FeedJobs jobs_;
  Pacer pacer_;
  std::optional<std::int64_t> sought_pts_ns_;  // until a frame from there on is shown
  int steps_ = 0;                              // still to go, below 0: back
  Frame next_;                                 // decoded, waiting for its time
  bool wanted_ = true;                         // the next frame is shown as soon as it is there: start, seek, step
  bool wanted_sought_ = true;
  bool shown_ = false;  // since advance() began
  bool starved_ = false;
  std::int64_t starved_since_ns_ = 0;  // 0: it is not
  std::int64_t seeking_since_ns_ = 0;
  std::int64_t stall_drawn_ns_ = 0;  // when the pace was drawn last while no frame came
  bool was_paused_ = false, was_loop_ = false;
  bool replaced_ = false;  // by a file that was dropped
  bool redraw_ = false;
  std::string message_;
  std::int64_t message_at_ns_ = 0, note_at_ns_ = 0;
  int notes_ = 0;
  bool scrubbing_ = false, held_ = false;
};

}  // namespace saccade::ui

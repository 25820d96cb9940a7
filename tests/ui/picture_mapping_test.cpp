#include "ui/picture/picture_mapping.h"

#include <gtest/gtest.h>

namespace saccade::ui {
namespace {

TEST(PictureMapping, AreaBesidePanels_HoldsThePicture) {
  const PictureMapping m = map_picture({640, 480, 1.0}, {}, {200, 0, 1000, 600});
  EXPECT_FLOAT_EQ(m.to_window_x(0), 200);
  EXPECT_FLOAT_EQ(m.to_window_x(640), 1000);
  EXPECT_FLOAT_EQ(m.to_window_y(0), 0);
  EXPECT_FLOAT_EQ(m.to_window_y(480), 600);
}

TEST(PictureMapping, WiderWindow_HasBarsAtTheSides) {
  const PictureMapping m = map_picture({640, 480, 1.0}, {}, 1280, 720);  // 4:3 in 16:9: 960 wide
  EXPECT_FLOAT_EQ(m.scale_x, 1.5f);
  EXPECT_FLOAT_EQ(m.scale_y, 1.5f);
  EXPECT_FLOAT_EQ(m.origin_x, 160);
  EXPECT_FLOAT_EQ(m.origin_y, 0);
}

TEST(PictureMapping, HigherWindow_HasBarsAboveAndBelow) {
  const PictureMapping m = map_picture({1000, 100, 1.0}, {}, 500, 500);
  EXPECT_FLOAT_EQ(m.scale_y, 0.5f);
  EXPECT_FLOAT_EQ(m.origin_x, 0);
  EXPECT_FLOAT_EQ(m.origin_y, 225);
}

TEST(PictureMapping, SampleAspectRatio_WidensPixels) {
  // PAL widescreen: 720x576 with 64:45 pixels is 1024x576.
  const PictureMapping m = map_picture({720, 576, 64.0 / 45.0}, {}, 1024, 576);
  EXPECT_NEAR(m.scale_x, 64.0 / 45.0, 1e-5);
  EXPECT_NEAR(m.scale_y, 1.0, 1e-5);
  EXPECT_NEAR(m.to_window_x(720), 1024, 1e-2);
}

TEST(PictureMapping, NonsenseAspect_IsSquare) {
  EXPECT_FLOAT_EQ(map_picture({100, 100, 0}, {}, 100, 100).scale_x, 1);
  EXPECT_FLOAT_EQ(map_picture({100, 100, -2}, {}, 100, 100).scale_x, 1);
}

TEST(PictureMapping, Zoom_KeepsThePointUnderTheCursor) {
  ViewSettings settings;
  const PictureSize size{1920, 1080, 1.0};
  const float x = 300, y = 500;
  const PictureMapping before = map_picture(size, settings, 1280, 720);
  for (int i = 0; i < 5; ++i) zoom_about(settings, size, 1280, 720, x, y, 1.5f);
  const PictureMapping after = map_picture(size, settings, 1280, 720);
  EXPECT_NEAR(after.scale_x / before.scale_x, 7.59375, 1e-3);
  EXPECT_NEAR(after.to_picture_x(x), before.to_picture_x(x), 0.05);
  EXPECT_NEAR(after.to_picture_y(y), before.to_picture_y(y), 0.05);
}

TEST(PictureMapping, Zoom_HasLimits) {
  ViewSettings settings;
  const PictureSize size{100, 100, 1.0};
  for (int i = 0; i < 100; ++i) zoom_about(settings, size, 100, 100, 50, 50, 2);
  EXPECT_FLOAT_EQ(settings.zoom, kMaxZoom);
  for (int i = 0; i < 100; ++i) zoom_about(settings, size, 100, 100, 50, 50, 0.5f);
  EXPECT_FLOAT_EQ(settings.zoom, kMinZoom);
}

TEST(PictureMapping, Pan_FollowsTheMouseAndStaysInSight) {
  ViewSettings settings;
  const PictureSize size{200, 100, 1.0};
  const PictureMapping before = map_picture(size, settings, 400, 200);
  pan_by(settings, size, before, 30, -10);
  const PictureMapping after = map_picture(size, settings, 400, 200);
  EXPECT_NEAR(after.to_window_x(100), before.to_window_x(100) + 30, 1e-3);
  EXPECT_NEAR(after.to_window_y(50), before.to_window_y(50) - 10, 1e-3);
  pan_by(settings, size, after, 1e6f, 1e6f);
  EXPECT_FLOAT_EQ(settings.pan_x, -0.5f);
  EXPECT_FLOAT_EQ(settings.pan_y, -0.5f);
}

}  // namespace
}  // namespace saccade::ui

// Eye trackers' files, as each program writes them.
#include "pipeline/gaze/recorded/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "pipeline/error.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecordedScanpath read(const std::string& text, const std::string& units = "auto", bool raw = false, int width_px = 1920,
                      int height_px = 1080) {
  const test::TempDir folder;
  const std::string file = folder.file("gaze.txt");
  std::ofstream(file, std::ios::binary) << text;
  return read_recording(file, {parse_gaze_units(units), raw, width_px, height_px});
}

std::string error_of(const std::string& text, const std::string& units = "auto") {
  try {
    read(text, units);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> times_s(const RecordedScanpath& path) {
  std::vector<double> times;
  for (const std::int64_t ns : path.begins_ns) times.push_back(static_cast<double>(ns) * 1e-9);
  return times;
}

TEST(PupilFile, GazePositions_CountFromTheFirstRowAndFromBelow) {
  const RecordedScanpath path = read(
      "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data\n"
      "309105.10,0,0.99,0.52,0.61,x\n309105.14,1,0.98,0.53,0.62,x\n309105.20,2,0.31,0.1,0.1,x\n309105.90,20,0.97,1.02,"
      "0.62,x\n");
  ASSERT_EQ(path.points.size(), 2U);
  EXPECT_FLOAT_EQ(path.points[0].u, 0.52f);
  EXPECT_FLOAT_EQ(path.points[0].v, 0.39f);
  EXPECT_NEAR(times_s(path)[1], 0.04, 1e-6);
  EXPECT_THAT(path.gap_after, ElementsAre(0, 1));
  EXPECT_EQ(path.facts.format, "Pupil");
  EXPECT_EQ(path.facts.units, "norm-up");
  EXPECT_EQ(path.facts.rows, 4);
  EXPECT_EQ(path.facts.unsure, 1);
  EXPECT_EQ(path.facts.off_screen, 1);
  EXPECT_TRUE(path.facts.samples && path.facts.counted_from_first);
  EXPECT_THAT(summary(path.facts),
              AllOf(HasSubstr("4 rows of Pupil"), HasSubstr("1 look off the screen"), HasSubstr("1 unsure")));
}

TEST(PupilFile, Fixations_AreFixations) {
  const RecordedScanpath path = read(
      "id,start_timestamp,duration,start_frame_index,end_frame_index,norm_pos_x,norm_pos_y,dispersion,confidence,"
      "method\n"
      "1,309105.10,220.5,0,5,0.52,0.61,1.1,0.98,2d\n2,309105.40,180.5,8,12,0.12,0.31,1.1,0.98,2d\n");
  ASSERT_EQ(path.points.size(), 2U);
  EXPECT_FALSE(path.facts.samples);
  EXPECT_FLOAT_EQ(path.points[1].v, 0.69f);
  EXPECT_NEAR(times_s(path)[1], 0.3, 1e-6);
}

TEST(PupilFile, SurfaceAndCloud_AreRead) {
  const RecordedScanpath surface = read(
      "world_timestamp,world_index,gaze_timestamp,x_norm,y_norm,x_scaled,y_scaled,on_surf,confidence\n"
      "10.0,0,9.5,0.25,0.75,25,75,True,0.9\n10.0,0,9.6,1.5,0.5,150,50,False,0.9\n");
  ASSERT_EQ(surface.points.size(), 1U);
  EXPECT_FLOAT_EQ(surface.points[0].v, 0.25f);
  EXPECT_EQ(surface.facts.off_screen, 1);
  const RecordedScanpath cloud = read(
      "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id,azimuth "
      "[deg],elevation [deg]\n"
      "s,r,1700000000000000000,480,270,1,1,,0,0\ns,r,1700000000005000000,482,270,1,1,,0,0\n"
      "s,r,1700000000010000000,500,280,1,,,0,0\ns,r,1700000000015000000,500,280,1,,7,0,0\n"
      "s,r,1700000000020000000,960,540,1,2,,0,0\n");
  ASSERT_EQ(cloud.points.size(), 2U) << "one row a fixation";
  EXPECT_NEAR(cloud.points[0].u, 481.0 / 1920, 1e-6);
  EXPECT_NEAR(times_s(cloud)[1], 0.02, 1e-6);
  EXPECT_EQ(cloud.facts.missing, 1);
  EXPECT_EQ(cloud.facts.others, 1);
}

TEST(TobiiFile, Samples_BecomeFixationsOrStayRaw) {
  const std::string text =
      "Recording timestamp\tGaze point X\tGaze point Y\tEye movement type\n"
      "0\t960\t540\tFixation\n8333\t962\t541\tFixation\n16666\t\t\tEyesNotFound\n25000\t480\t270\tSaccade\n33333\t480\t"
      "270\tFixation\n";
  const RecordedScanpath fixations = read(text);
  ASSERT_EQ(fixations.points.size(), 2U);
  EXPECT_NEAR(fixations.points[0].u, 961.0 / 1920, 1e-6);
  EXPECT_NEAR(times_s(fixations)[1], 0.033333, 1e-6) << "whole numbers in steps of 8333 are microseconds";
  EXPECT_EQ(fixations.facts.missing, 1);
  EXPECT_EQ(fixations.facts.others, 1);
  const RecordedScanpath raw = read(text, "auto", true);
  EXPECT_EQ(raw.points.size(), 4U);
  EXPECT_TRUE(raw.facts.samples);
}

TEST(TobiiFile, ProLabAndStudio_NamesAndUnitsAreKnown) {
  const RecordedScanpath lab = read(
      "Recording timestamp [ms]\tSensor\tRecording resolution width\tRecording resolution height\tGaze point X [DACS "
      "mm]\tGaze point Y [DACS mm]\t"
      "Gaze point X [DACS px]\tGaze point Y [DACS px]\n"
      "1000\tEye Tracker\t1280\t1024\t1\t1\t640\t256\n1250\tEye Tracker\t1280\t1024\t1\t1\t320\t512\n");
  ASSERT_EQ(lab.points.size(), 2U);
  EXPECT_FLOAT_EQ(lab.points[0].v, 0.25f);
  EXPECT_NEAR(times_s(lab)[1], 0.25, 1e-9);
  EXPECT_EQ(lab.facts.units, "px of 1280x1024");
  const RecordedScanpath studio = read(  // a German Windows: decimal commas, UTF-8 with a byte order mark
      "\xEF\xBB\xBFRecordingTimestamp\tGazePointX (ADCSpx)\tGazePointY "
      "(ADCSpx)\r\n0\t960,0\t270,5\r\n17\t\t\r\n33\t1920\t1080\r\n");
  ASSERT_EQ(studio.points.size(), 2U);
  EXPECT_NEAR(studio.points[0].v, 270.5 / 1080, 1e-6);
  EXPECT_EQ(studio.facts.missing, 1);
}

TEST(EyeLinkFile, Events_AreFixations) {
  const std::string text =
      "** CONVERTED FROM x.edf\n**\n\nMSG\t1000 DISPLAY_COORDS 0 0 1919 1079\nSTART\t1005 \tLEFT\tSAMPLES\tEVENTS\n"
      "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\n"
      "SFIX L   1010\n1010\t  960.1\t  540.3\t 1200.0\t...\n1011\t  961.1\t  540.3\t 1200.0\t...\nEFIX L   "
      "1010\t1230\t222\t  960.1\t  540.3\t   1200\n"
      "SBLINK L 1231\n1231\t   .\t   .\t    0.0\t...\nEBLINK L 1231\t1300\t70\n"
      "SFIX L   1310\nEFIX L   1310\t1500\t190\t  2100.0\t  540.3\t   1200\nEFIX L   1510\t1600\t90\t  480.0\t  "
      "270.0\t   1200\n";
  const RecordedScanpath path = read(text, "auto", false, 640, 360);
  ASSERT_EQ(path.points.size(), 2U);
  EXPECT_NEAR(path.points[0].u, 960.1 / 1920, 1e-6) << "of the display, not of the frame";
  EXPECT_NEAR(times_s(path)[1], 0.5, 1e-9);
  EXPECT_EQ(path.facts.missing, 1);
  EXPECT_EQ(path.facts.off_screen, 1);
  const RecordedScanpath raw = read(text, "auto", true, 640, 360);
  EXPECT_THAT(times_s(raw), ElementsAre(0, 0.001));
  EXPECT_EQ(raw.gap_after.back(), 1);
}

TEST(EyeLinkFile, CoordinatesInAnyForm_AreReadOrPassedOver) {
  const std::string rest = "\nSAMPLES\tGAZE\tLEFT\n0\t640\t360\t5\t...\n";
  for (const char* form : {"0 0 1279 719", "= 0, 0, 1279, 719", "=0 0 1279 719"}) {
    const RecordedScanpath raw = read("MSG\t1 DISPLAY_COORDS " + std::string(form) + rest, "auto", true, 64, 36);
    ASSERT_EQ(raw.points.size(), 1U) << form;
    EXPECT_FLOAT_EQ(raw.points[0].u, 0.5f) << form;
  }
  EXPECT_NO_THROW(read("MSG\t1 DISPLAY_COORDS of the left screen" + rest, "auto", true, 1280, 720));
}

TEST(AnyTable, HeaderOfOtherWords_IsRefused) {
  EXPECT_THAT(error_of("x,y,pupil\n0.1,0.2,0.9\n0.3,0.4,0.8\n"), AllOf(HasSubstr("line 1"), HasSubstr("t, x, y")));
  EXPECT_THAT(error_of("frame,x,y\n0,.1,.1\n30,.5,.5\n"), HasSubstr("name the columns"));
}

TEST(EyeLinkFile, BothEyesAndSynctime_AreUsed) {
  const RecordedScanpath raw = read(
      "MSG\t1 DISPLAY_COORDS 0 0 99 99\nSAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t500.00\nMSG\t2000 SYNCTIME\n"
      "1998\t10\t20\t5\t30\t40\t5\t.....\n2000\t.\t.\t0\t30\t40\t5\t.....\n",
      "auto", true);
  ASSERT_EQ(raw.points.size(), 2U);
  EXPECT_FLOAT_EQ(raw.points[0].u, 0.2f) << "the mean of both eyes";
  EXPECT_FLOAT_EQ(raw.points[1].u, 0.3f) << "the eye that sees";
  EXPECT_THAT(times_s(raw), ElementsAre(-0.002, 0));
  EXPECT_THAT(error_of("MSG\t1 x\nSAMPLES\tHREF\tLEFT\n"), AllOf(HasSubstr("line 2"), HasSubstr("HREF")));
  EXPECT_THAT(error_of("** x\nEFIX L 1 2 3 4\n"), AllOf(HasSubstr("line 2"), HasSubstr("6 fields")));
}

TEST(AnyTable, ColumnsByName_InAnyOrder) {
  for (const char* text :
       {"x,y,time\n0.25,0.75,0\n0.5,0.5,1.5\n", "trial;Time (s);Gaze X;Gaze Y\nA;0;0,25;0,75\nA;1,5;0,5;0,5\n",
        "# x y t\n0.25 0.75 0\n0.5 0.5 1.5\n", "\"time_ms\",\"gaze_x\",\"gaze_y\"\n0,0.25,0.75\n1500,0.5,0.5\n",
        "sep=;\nt;u;v\n0;0.25;0.75\n1.5;0.5;0.5\n",
        "Participant: 7, Monday\nt,x,y,pupil\n0,0.25,0.75,3\n1.5,0.5,0.5,3\n",
        "timestamp_us\tleft_gaze_x\tleft_gaze_y\tright_gaze_x\tright_gaze_y\n0\t0.2\t0.7\t0.3\t0."
        "8\n1500000\tNaN\tNaN\t0.5\t0.5\n",
        "FPOGX,FPOGY,FPOGS,FPOGD,FPOGID,FPOGV\n0.25,0.75,0,0.5,1,1\n0.9,0.9,1,0.1,2,0\n0.5,0.5,1.5,0.5,3,1\n"}) {
    const RecordedScanpath path = read(text);
    ASSERT_EQ(path.points.size(), 2U) << text;
    EXPECT_FLOAT_EQ(path.points[0].u, 0.25f) << text;
    EXPECT_FLOAT_EQ(path.points[0].v, 0.75f) << text;
    EXPECT_NEAR(times_s(path)[1], 1.5, 1e-9) << text;
  }
}

TEST(AnyTable, Utf16_IsRead) {
  std::string text = "\xFF\xFE";
  for (const char c : std::string("t\tx\ty\r\n0\t0.25\t0.75\r\n")) {
    text += c;
    text += '\0';
  }
  EXPECT_FLOAT_EQ(read(text).points.at(0).v, 0.75f);
}

TEST(AnyTable, BlinksAndLooksAway_AreSkippedAndCounted) {
  const RecordedScanpath path = read("t_s,u,v\n0.0,0.5,0.5\n0.4,nan,nan\n0.6,1.2,0.5\n1.0,0.7,0.9\n");
  ASSERT_EQ(path.points.size(), 2U);
  EXPECT_EQ(path.facts.missing, 1);
  EXPECT_EQ(path.facts.off_screen, 1);
  EXPECT_THAT(path.gap_after, ElementsAre(1, 0));
}

TEST(AnyTable, UnixTimes_CountFromTheFirstAndAreSaid) {
  for (const char* text : {"t_s,u,v\n1732799000.0,0.5,0.5\n1732799000.5,0.2,0.4\n",
                           "timestamp,x,y\n1732799000000,0.5,0.5\n1732799000500,0.2,0.4\n",
                           "timestamp,x,y\n1732799000000000000,0.5,0.5\n1732799000500000000,0.2,0.4\n"}) {
    const RecordedScanpath path = read(text);
    EXPECT_NEAR(times_s(path).at(1), 0.5, 1e-6) << text;
    ASSERT_EQ(path.facts.warnings.size(), 1U);
    EXPECT_THAT(path.facts.warnings[0],
                AllOf(HasSubstr("times begin at 1732799000"), HasSubstr("2024-11-28"), HasSubstr("no row lies")));
  }
}

TEST(AnyTable, Units_AreAsAsked) {
  const std::string text = "t,x,y\n0,480,270\n1,960,540\n";
  EXPECT_FLOAT_EQ(read(text).points[0].u, 0.25f) << "large numbers are pixels";
  EXPECT_FLOAT_EQ(read(text, "px:960x540").points[0].u, 0.5f);
  EXPECT_FLOAT_EQ(read(text, "px:1440x1080+240+0").points[0].u, 240.0f / 1440);
  EXPECT_FLOAT_EQ(read("t,x,y\n0,1,0.25\n", "norm-up").points[0].v, 0.75f);
  EXPECT_NEAR(times_s(read(text, "px,ms"))[1], 0.001, 1e-12);
  const RecordedScanpath beyond = read(text, "auto", false, 640, 360);
  EXPECT_FLOAT_EQ(beyond.points[0].u, 0.25f);
  EXPECT_THAT(beyond.facts.warnings.at(0), AllOf(HasSubstr("1920x1080 is assumed"), HasSubstr("640x360")));
  EXPECT_EQ(read(text, "px", false, 640, 360).facts.off_screen, 1) << "asked for: the frame's own";
  EXPECT_THAT(error_of(text, "norm"), AllOf(HasSubstr("line 2"), HasSubstr("u 480"), HasSubstr("px:WxH")));
}

TEST(AnyTable, Percent_IsOfThePicture) {
  for (const char* header : {"t_s,Gaze X [%],Gaze Y [%]", "t_s,gaze_x_percent,gaze_y_percent", "time,x_pct,y_pct"}) {
    const RecordedScanpath path = read(std::string(header) + "\n0,50,25\n1,0.5,100\n2,101,50\n");
    ASSERT_EQ(path.points.size(), 2U) << header;
    EXPECT_FLOAT_EQ(path.points[0].u, 0.5f);
    EXPECT_FLOAT_EQ(path.points[0].v, 0.25f);
    EXPECT_FLOAT_EQ(path.points[1].u, 0.005f);
    EXPECT_EQ(path.facts.off_screen, 1);
    EXPECT_EQ(path.facts.units, "percent");
  }
  EXPECT_FLOAT_EQ(read("t,x,y\n0,50,25\n", "percent").points[0].v, 0.25f);
}

TEST(AnyTable, RawGazeAsFixations_IsSaid) {
  std::string text = "time,x,y\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i * 0.01) + ",0.5,0.5\n";
  EXPECT_THAT(read(text).facts.warnings.at(0), HasSubstr("100 rows a second"));
  EXPECT_TRUE(read(text, "auto", true).facts.warnings.empty());
  std::string whole = "time,x,y\n";  // 250 a second, in milliseconds without saying so
  for (int i = 0; i < 100; ++i) whole += std::to_string(i * 4) + ",0.5,0.5\n";
  EXPECT_NEAR(read(whole).facts.ends_s, 0.396, 1e-9);
}

TEST(AnyTable, Errors_NameLineColumnAndWhatToTry) {
  EXPECT_THAT(error_of("a,b,c,d\n1,2,3,4\n"), AllOf(HasSubstr("line 1"), HasSubstr("name the columns t, x, y")));
  EXPECT_THAT(error_of("t,x,y,p\n0,0.5,0.5,1\n1,zero,0.5,1\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("column \"x\""), HasSubstr("\"zero\"")));
  EXPECT_THAT(error_of("id,t,x,y\n1,0,0.5,0.5\n2,1,0.5\n"), AllOf(HasSubstr("line 3"), HasSubstr("column \"y\"")));
  EXPECT_THAT(error_of("id,t,x,y\n1,5,0.5,0.5\n2,1,0.5,0.5\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("does not rise"), HasSubstr("more than one recording")));
  EXPECT_THAT(error_of("t,x,y\n"), HasSubstr("holds no fixation"));
  EXPECT_THAT(error_of("t,x,y\n0,nan,nan\n"), HasSubstr("line 2"));
}

TEST(GazeUnits, PrintAndParse_AreInverse) {
  for (const char* text : {"auto", "norm", "norm-up", "px", "px:1920x1080", "px:1440x1080+240+0", "ms", "px,us",
                           "norm,ns", "px:800x600,s", "percent", "percent,ms"}) {
    EXPECT_EQ(print_gaze_units(parse_gaze_units(text)), text);
  }
  for (const char* text :
       {"", "pixels", "px:", "px:1920", "px:0x10", "px:10x10+1", "norm,px", "ms,s", "px,", "auto,ms"}) {
    EXPECT_THROW(parse_gaze_units(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace saccade

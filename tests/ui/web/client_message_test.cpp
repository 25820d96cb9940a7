// What a page may say, and what it may not. rapidcheck changes messages at random; tests/fuzz has any bytes.
#include "ui/web/wire/client_message.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace saccade::ui {
namespace {

template <typename T>
T parsed(std::string_view text) {
  const auto message = parse_client_message(text);
  if (!message || !std::holds_alternative<T>(*message)) {
    ADD_FAILURE() << text;
    return {};
  }
  return std::get<T>(*message);
}

template <typename T>
T input(std::string_view text, std::uint32_t number) {
  const auto message = parsed<InputMessage>(text);
  EXPECT_EQ(message.number, number) << text;
  if (!std::holds_alternative<T>(message.input)) {
    ADD_FAILURE() << text;
    return {};
  }
  return std::get<T>(message.input);
}

TEST(ClientMessage, EachKind_IsRead) {
  EXPECT_EQ(parsed<HelloMessage>("hello 1 abc").token, "abc");
  EXPECT_EQ(parsed<HelloMessage>("hello 12 abc").version, 12);
  EXPECT_EQ(parsed<AckMessage>("ack 4294967295").seq, 4294967295u);
  EXPECT_TRUE(parsed<HiddenMessage>("hidden 1").hidden);
  parsed<TakeMessage>("take");
  EXPECT_EQ(parsed<PingMessage>("ping 1234.5").t, 1234.5);
  EXPECT_EQ(input<MoveInput>("move 3 10.5 -2", 3).x, 10.5f);
  EXPECT_FALSE(input<MoveInput>("leave 4", 4).inside);
  EXPECT_TRUE(input<ButtonInput>("press 5 1 2 2", 5).down);
  EXPECT_EQ(input<ButtonInput>("release 5 1 2 2", 5).button, 2);
  EXPECT_EQ(input<WheelInput>("wheel 6 1 2 0 -0.5", 6).dy, -0.5f);
  EXPECT_EQ(input<ResizeInput>("resize 7 1280 720 1.5", 7).ratio, 1.5f);
  EXPECT_EQ(input<SeekInput>("seek 8 2.25", 8).t_s, 2.25);
  EXPECT_EQ(input<StepInput>("step 9 -1", 9).frames, -1);
  EXPECT_EQ(input<PasteInput>("paste 10 two  words ", 10).text, "two  words ");
  EXPECT_EQ(input<PasteInput>("paste 10 ", 10).text, "");
  EXPECT_EQ(input<SetInput>("set 11 view lod", 11).view, View::kLod);
  EXPECT_EQ(input<SetInput>("set 12 speed 2", 12).number, 2);
  EXPECT_EQ(input<SetInput>("set 13 paused 0", 13).number, 0);
  EXPECT_EQ(input<SetInput>("set 14 quality -1", 14).number, -1);
  EXPECT_EQ(input<AskInput>("ask 15 line", 15).what, AskInput::What::kLine);
}

TEST(ClientMessage, Keys_AreNamesOrWhatTheyType) {
  const auto left = input<KeyInput>("key 1 down ArrowLeft 17 ArrowLeft", 1);
  EXPECT_EQ(left.silent, SilentKey::kLeft);
  EXPECT_EQ(left.character, 0u);
  EXPECT_TRUE(left.down && left.shift && left.repeated);
  EXPECT_FALSE(left.control || left.alt || left.meta);
  const auto cyrillic = input<KeyInput>("key 2 up \xd0\xb0 14 KeyF", 2);
  EXPECT_EQ(cyrillic.character, 0x430u);
  EXPECT_EQ(cyrillic.place, U'f');
  EXPECT_TRUE(cyrillic.control && cyrillic.alt && cyrillic.meta && !cyrillic.down);
  EXPECT_EQ(input<KeyInput>("key 3 down Space 0 Space", 3).character, U' ');
  EXPECT_EQ(input<KeyInput>("key 4 down ? 1 Slash", 4).place, U'/');
  EXPECT_EQ(input<KeyInput>("key 5 down \xf0\x9f\x98\x80 0 KeyA", 5).character, 0x1f600u);
  const auto unknown = input<KeyInput>("key 6 down F13 0 F13", 6);  // a key, but not one of ours
  EXPECT_EQ(unknown.character, 0u);
  EXPECT_EQ(unknown.silent, SilentKey::kNone);
}

TEST(ClientMessage, Numbers_AreClamped) {
  EXPECT_EQ(input<ResizeInput>("resize 1 99999 1 100", 1).width_px, 3840);
  EXPECT_EQ(input<ResizeInput>("resize 1 99999 1 100", 1).height_px, 200);
  EXPECT_EQ(input<ResizeInput>("resize 1 -5 1 100", 1).ratio, 4);
  EXPECT_EQ(input<MoveInput>("move 1 1e30 -1e30", 1).x, 20000);
  EXPECT_EQ(input<WheelInput>("wheel 1 0 0 0 1e9", 1).dy, 20);
  EXPECT_EQ(input<ButtonInput>("press 1 0 0 77", 1).button, 2);
  EXPECT_EQ(input<SeekInput>("seek 1 -3", 1).t_s, 0);
  EXPECT_EQ(input<SeekInput>("seek 1 1e300", 1).t_s, 1e9);
  EXPECT_EQ(input<StepInput>("step 1 1000", 1).frames, 1);
  EXPECT_EQ(input<SetInput>("set 1 speed 0", 1).number, 0.1);
}

TEST(ClientMessage, WhatIsNoMessage_IsRefused) {
  for (const std::string& text : {std::string(),
                                  std::string(" "),
                                  std::string("hello"),
                                  std::string("hello 1"),
                                  std::string("hello x abc"),
                                  std::string("hello 1 a b"),
                                  std::string("ack"),
                                  std::string("ack -1"),
                                  std::string("ack 4294967296"),
                                  std::string("ack 1 2"),
                                  std::string("ack  1"),
                                  std::string("ack 1 "),
                                  std::string("ack 0x1"),
                                  std::string("ack 1.5"),
                                  std::string("hidden 2"),
                                  std::string("take it"),
                                  std::string("move 1 2"),
                                  std::string("move 1 nan 2"),
                                  std::string("move 1 inf 2"),
                                  std::string("move 1 1,5 2"),
                                  std::string("move 1 2 3 4"),
                                  std::string("move -1 2 3"),
                                  std::string("press 1 2 3 x"),
                                  std::string("key 1 pushed a 0 KeyA"),
                                  std::string("key 1 down \xff 0 KeyA"),
                                  std::string("key 1 down a x KeyA"),
                                  std::string("key 1 down a 0"),
                                  std::string("paste 1 \xc3"),
                                  std::string("paste 1 \xed\xa0\x80"),
                                  std::string("set 1 view x"),
                                  std::string("set 1 path /etc/passwd"),
                                  std::string("set 1 paused 2"),
                                  std::string("set 1 paused"),
                                  std::string("ask 1 /etc"),
                                  std::string("seek 1 nan"),
                                  std::string("ping inf"),
                                  std::string("quit 1"),
                                  std::string("MOVE 1 2 3"),
                                  std::string("move\t1\t2\t3"),
                                  std::string("take\n"),
                                  std::string("take\0", 5),
                                  "paste 1 " + std::string(kMostMessage_bytes, 'a')}) {
    EXPECT_FALSE(parse_client_message(text)) << text.substr(0, 40);
  }
}

TEST(ClientMessage, Paste_LosesControlCharacters) {
  EXPECT_EQ(input<PasteInput>("paste 1 a\nb\tc\x1b[31m\xc2\x85\xc3\xa9", 1).text, "abc[31m\xc3\xa9");
}

// Whatever is finite comes through as it was, within the limits.
TEST(ClientMessage, AnyPlace_ComesThrough) {
  EXPECT_TRUE(rc::check([](std::uint32_t number, float x, float y) {
    RC_PRE(std::isfinite(x) && std::isfinite(y));
    const auto message = parse_client_message(fmt::format("move {} {} {}", number, x, y));
    RC_ASSERT(message.has_value());
    const auto& said = std::get<InputMessage>(*message);
    const auto& move = std::get<MoveInput>(said.input);
    RC_ASSERT(said.number == number);
    RC_ASSERT(move.x == std::min(std::max(x, -20000.0f), 20000.0f));
    RC_ASSERT(move.y == std::min(std::max(y, -20000.0f), 20000.0f));
  }));
}

// Pasted text stays UTF-8, whatever bytes came.
TEST(ClientMessage, AnyPastedBytes_GiveCleanTextOrNone) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const auto message = parse_client_message("paste 1 " + bytes);
    if (!message) return;
    const std::string text = std::get<PasteInput>(std::get<InputMessage>(*message).input).text;
    for (const char c : text) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    RC_ASSERT(parse_client_message("paste 1 " + text).has_value());
  }));
}

// A message that is cut or changed is another message or none; reading it never fails.
TEST(ClientMessage, ChangedMessages_AreReadOrRefused) {
  const std::vector<std::string> seeds{"hello 1 abcdef",      "press 5 1 2 2",  "wheel 6 1 2 0 -0.5",
                                       "key 1 down a 0 KeyA", "set 1 view lod", "resize 7 1280 720 1.5",
                                       "paste 3 x \xc3\xa9"};
  EXPECT_TRUE(rc::check([&seeds] {
    std::string text = *rc::gen::elementOf(seeds);
    const auto changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
      text.insert(at, 1, *rc::gen::arbitrary<char>());
      if (*rc::gen::arbitrary<bool>()) text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
    }
    const auto message = parse_client_message(text);
    if (!message) return;
    if (const auto* said = std::get_if<InputMessage>(&*message)) {
      if (const auto* size = std::get_if<ResizeInput>(&said->input)) {
        RC_ASSERT(size->width_px >= 320 && size->width_px <= 3840);
        RC_ASSERT(size->height_px >= 200 && size->height_px <= 2160);
      }
    }
  }));
}

}  // namespace
}  // namespace saccade::ui

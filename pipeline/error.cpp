#include "pipeline/error.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <system_error>

#include "gpu/device_error.h"
#include "pipeline/hint_text.h"

namespace saccade {
namespace {

Hint hint_of(DeviceRemedy remedy) {
  switch (remedy) {
    case DeviceRemedy::kNone:
      return Hint::kNone;
    case DeviceRemedy::kLessMemory:
      return Hint::kLessMemory;
    case DeviceRemedy::kSmallerTexture:
      return Hint::kSmallerFrameOrCpu;
    case DeviceRemedy::kUseCpu:
      return Hint::kCpuBackend;
    case DeviceRemedy::kAvoidGl:
      return Hint::kDirectUpload;
  }
  return Hint::kNone;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '\n') {
      made += "\\n";
    } else if (c == '\r') {
      made += "\\r";
    } else if (c == '\t') {
      made += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      made += c;
    }
  }
  return made;
}

const char* hint_text(Hint hint) {
  switch (hint) {
    case Hint::kNone:
      return "";
    case Hint::kSmallerFrame:
      return "scale the video down, for example with {vf} scale=4096:-2";
    case Hint::kSmallerFrameOrCpu:
      return "scale the video down, for example with {vf} scale=4096:-2, or use {backend} cpu";
    case Hint::kLessMemory:
      return "end other programs on the GPU, or use a smaller frame ({vf} scale=...) or fewer {levels}";
    case Hint::kRaisePixelLimit:
      return "allow more with {max-pixels}, or scale the video down first";
    case Hint::kFewerLevels:
      return "lower {levels}";
    case Hint::kMoreLevels:
      return "raise {levels}";
    case Hint::kFewerPatches:
      return "use a smaller {e0} or a larger {patch-size}";
    case Hint::kMorePatches:
      return "raise that number, {patch-size} or {levels}";
    case Hint::kCpuBackend:
      return "{backend} cpu needs no GPU";
    case Hint::kCudaBackend:
      return "use {backend} cuda";
    case Hint::kOtherBackend:
      return "use {backend} auto, or cpu where there is no window";
    case Hint::kGlBackend:
      return "use {backend} gl, or {upload} direct for a dump";
    case Hint::kDirectUpload:
      return "{upload} direct needs no OpenGL";
    case Hint::kCpuDecoding:
      return "leave out {hwdec} and {require-hwdec} to decode on the CPU";
    case Hint::kOffscreen:
      return "{serve} shows it in a browser, and {offscreen} {screenshot} T=FILE.png makes pictures";
    case Hint::kCheckRange:
      return "check {start} and {duration}";
    case Hint::kNoLoop:
      return "leave out {loop}";
    case Hint::kRawParameters:
      return "give {input-format} rawvideo:video_size=WxH:pixel_format=NAME:framerate=FPS";
    case Hint::kNoInputParameters:
      return "leave out that part of {input-format}";
    case Hint::kCheckFilters:
      return "check {vf}; 'ffmpeg -filters' lists what there is";
    case Hint::kNoFilters:
      return "leave out {vf}";
    case Hint::kConvertFormat:
      return "convert it with {vf} format=yuv420p";
    case Hint::kLongerTimeout:
      return "give it longer with {open-timeout}";
    case Hint::kAllowNetwork:
      return "{allow-network} allows it, where you trust it";
  }
  return "";
}

const char* words(Hint hint) {
  constexpr auto kLast = static_cast<std::size_t>(Hint::kCudaBackend);
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= kLast; ++at) {
      std::erase_if(words.emplace_back(hint_text(static_cast<Hint>(at))), [](char c) { return c == '{' || c == '}'; });
    }
    return words;
  }();
  return kWords.at(static_cast<std::size_t>(hint)).c_str();
}

std::string one_line(const Fault& fault) {
  const std::string hint = words(fault.hint);
  return hint.empty() ? fault.what : fault.what + "; " + hint;
}

Fault in_context(const Fault& fault, const std::string& context) {
  const std::string before = printable(context) + ": ";
  Fault told = fault;
  told.what.insert(0, before);
  for (NamedOption& option : told.options) option.at += before.size();
  return told;
}

Fault of_option(const Fault& fault, std::string_view option, const std::string& prefix) {
  const std::string before = fmt::format("{} {}", option, printable(prefix));
  Fault told = fault;
  told.what.insert(0, before);
  for (NamedOption& named : told.options) named.at += before.size();
  told.options.insert(told.options.begin(), NamedOption{std::string(option)});
  return told;
}

Error::Error(const Fault& fault) : Error(fault.kind, fault.what, fault.hint, fault.error) {
  options_ = fault.options;
  for (NamedOption& option : options_) option.at = printable(fault.what.substr(0, option.at)).size();
}

Error::Error(ErrorKind kind, const OfOption& option, const std::string& fault, Hint hint, int error)
    : Error(kind,
            fmt::format("{}{}{}{}{}: {}", option.input, option.input.empty() ? "" : ": ", option.name,
                        option.value.empty() ? "" : " ", option.value, fault),
            hint, error) {
  options_.push_back({option.name, option.input.empty() ? 0 : printable(option.input).size() + 2});
}

void throw_fault(const Fault& fault, const std::string& context) {
  const Fault told = context.empty() ? fault : in_context(fault, context);
  switch (told.kind) {
    case ErrorKind::kUsage:
      throw UsageError(told);
    case ErrorKind::kInput:
      throw InputError(told);
    case ErrorKind::kUnavailable:
      throw UnavailableError(told);
    case ErrorKind::kInterrupted:
    case ErrorKind::kOutput:
    case ErrorKind::kMemory:
      break;
  }
  throw Error(told);
}

Fault fault_of(const DeviceError& error) { return {ErrorKind::kUnavailable, error.what(), hint_of(error.remedy())}; }

Fault caught_fault(ErrorKind otherwise) {
  try {
    throw;
  } catch (const Error& error) {
    return error.fault();
  } catch (const DeviceError& error) {
    return fault_of(error);
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kMemory, "out of memory", Hint::kSmallerFrame};
  } catch (const std::system_error& error) {
    const std::error_condition condition = error.code().default_error_condition();
    const bool is_errno = condition.category() == std::generic_category();
    return {otherwise, error.what(), Hint::kNone, {}, is_errno ? condition.value() : 0};
  } catch (const std::exception& error) {
    return {otherwise, error.what()};
  }
}

}  // namespace saccade

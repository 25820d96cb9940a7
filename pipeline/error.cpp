#include "pipeline/error.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "gpu/device_error.h"

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

const char* words(Hint hint) {
  switch (hint) {
    case Hint::kNone:
      return "";
    case Hint::kSmallerFrame:
      return "scale the video down";
    case Hint::kSmallerFrameOrCpu:
      return "scale the video down, or use the cpu backend";
    case Hint::kLessMemory:
      return "end other programs on the GPU, or use a smaller frame or fewer levels";
    case Hint::kRaisePixelLimit:
      return "raise the limit, or scale the video down first";
    case Hint::kFewerLevels:
      return "use fewer levels";
    case Hint::kMoreLevels:
      return "use more levels";
    case Hint::kFewerPatches:
      return "use a smaller e0 or a larger patch size";
    case Hint::kMorePatches:
      return "use more patches, larger ones or more levels";
    case Hint::kCpuBackend:
      return "the cpu backend needs no GPU";
    case Hint::kCudaBackend:
      return "use the cuda backend";
    case Hint::kOtherBackend:
      return "use the cpu backend, or let one be chosen";
    case Hint::kGlBackend:
      return "use the gl backend, or upload without OpenGL";
    case Hint::kDirectUpload:
      return "direct upload needs no OpenGL";
    case Hint::kCpuDecoding:
      return "decode on the CPU";
    case Hint::kOffscreen:
      return "pictures can be made without a window";
    case Hint::kCheckRange:
      return "check start and duration";
    case Hint::kNoLoop:
      return "leave out looping";
    case Hint::kRawParameters:
      return "give the input's format (rawvideo), size, pixel format and rate";
    case Hint::kNoInputParameters:
      return "leave out what describes the input";
    case Hint::kCheckFilters:
      return "check the filters; 'ffmpeg -filters' lists what there is";
    case Hint::kNoFilters:
      return "leave out the filters";
    case Hint::kConvertFormat:
      return "convert it by the filter format=yuv420p";
    case Hint::kLongerTimeout:
      return "allow more time for opening";
    case Hint::kAllowNetwork:
      return "allow the network where you trust it";
  }
  return "";
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

Error::Error(const Fault& fault) : Error(fault.kind, fault.what, fault.hint) {
  options_ = fault.options;
  for (NamedOption& option : options_) option.at = printable(fault.what.substr(0, option.at)).size();
}

Error::Error(ErrorKind kind, const OfOption& option, const std::string& fault, Hint hint)
    : Error(kind,
            fmt::format("{}{}{}{}{}: {}", option.input, option.input.empty() ? "" : ": ", option.name,
                        option.value.empty() ? "" : " ", option.value, fault),
            hint) {
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
  } catch (const std::exception& error) {
    return {otherwise, error.what()};
  }
}

}  // namespace saccade

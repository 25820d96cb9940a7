#include "app/options/hint_flags.h"

#include "app/options/origins.h"

namespace saccade {

const char* flags(Hint hint) {
  switch (hint) {
    case Hint::kNone:
      return "";
    case Hint::kSmallerFrame:
      return "scale the video down, for example with --vf scale=4096:-2";
    case Hint::kSmallerFrameOrCpu:
      return "scale the video down, for example with --vf scale=4096:-2, or use --backend cpu";
    case Hint::kLessMemory:
      return "end other programs on the GPU, or use a smaller frame (--vf scale=...) or fewer --levels";
    case Hint::kRaisePixelLimit:
      return "--set max-pixels=N allows more, or scale the video down first";
    case Hint::kFewerLevels:
      return "lower --levels";
    case Hint::kMoreLevels:
      return "raise --levels";
    case Hint::kFewerPatches:
      return "use a smaller --e0 or a larger --patch-size";
    case Hint::kMorePatches:
      return "raise that number, --patch-size or --levels";
    case Hint::kCpuBackend:
      return "--backend cpu needs no GPU";
    case Hint::kCudaBackend:
      return "use --backend cuda";
    case Hint::kOtherBackend:
      return "use --backend auto, or cpu where there is no window";
    case Hint::kGlBackend:
      return "use --backend gl, or --set upload=direct for a dump";
    case Hint::kDirectUpload:
      return "--set upload=direct needs no OpenGL";
    case Hint::kCpuDecoding:
      return "leave out --hwdec and --set require-hwdec to decode on the CPU";
    case Hint::kOffscreen:
      return "--serve shows it in a browser, and --offscreen --screenshot T=FILE.png makes pictures";
    case Hint::kCheckRange:
      return "check --start and --duration";
    case Hint::kNoLoop:
      return "leave out --loop";
    case Hint::kRawParameters:
      return "give --input-format rawvideo:video_size=WxH:pixel_format=NAME:framerate=FPS";
    case Hint::kNoInputParameters:
      return "leave out --input-format";
    case Hint::kCheckFilters:
      return "check --vf; 'ffmpeg -filters' lists what there is";
    case Hint::kNoFilters:
      return "leave out --vf";
    case Hint::kConvertFormat:
      return "convert it with --vf format=yuv420p";
    case Hint::kLongerTimeout:
      return "--set open-timeout=S gives it longer";
    case Hint::kAllowNetwork:
      return "--allow-network allows it, where you trust it";
  }
  return "";
}

std::string error_text(const Fault& fault) {
  std::string text = fault.what;
  for (auto option = fault.options.rbegin(); option != fault.options.rend(); ++option) {
    const std::string spelled = option->advised ? flag_of(option->name) : origin_of(option->name);
    const std::size_t end = option->at + option->name.size();
    if (spelled.starts_with("--set ") && end < text.size() && text[end] == ' ') text[end] = '=';  // its value follows
    text.replace(option->at, option->name.size(), printable(spelled));
  }
  const std::string hint = flags(fault.hint);
  return hint.empty() ? text : text + "; " + hint;
}

std::string error_text(const Error& error) { return error_text(error.fault()); }

}  // namespace saccade

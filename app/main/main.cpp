// Parses the command line, runs one command and turns every error into one line and an exit code.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "app/commands.h"
#include "app/log.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/process/standard_streams.h"
#include "gpu/device_error.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"
#include "pipeline/source/ffmpeg/log.h"

namespace {

int run(const saccade::Options& options) {
  switch (options.command) {
    case saccade::Command::kDump:
      return options.plan.manifest.empty() ? saccade::run_dump(options) : saccade::dump_manifest(options);
    case saccade::Command::kProfile:
      return saccade::run_profile(options);
    case saccade::Command::kInfo:
      return saccade::run_info(options);
    case saccade::Command::kReconstruct:
      return saccade::run_reconstruct(options);
    case saccade::Command::kView:
      return saccade::run_view(options);
    case saccade::Command::kPlan:
      return saccade::run_plan(options);
    case saccade::Command::kWork:
      return saccade::run_work(options);
    case saccade::Command::kStatus:
      return saccade::run_status(options);
    case saccade::Command::kVerify:
      return saccade::run_verify(options);
    case saccade::Command::kGc:
      return saccade::run_gc(options);
    case saccade::Command::kRetry:
      return saccade::run_retry(options);
    case saccade::Command::kWorker:
      return saccade::run_worker(options);
  }
  return static_cast<int>(saccade::ExitCode::kUnexpected);
}

int fail(saccade::ExitCode code, const std::string& message) {
  std::fprintf(stderr, "saccade: %s\n", saccade::without_secrets(message).c_str());
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  saccade::open_standard_streams();
  // A reader that went away and a file-size limit are errors to report, not reasons to die.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    int exit_code = 0;
    auto options = saccade::parse_options(argc, argv, exit_code);
    if (options) {
      saccade::init_log(options->log_level);
      options->source.log = saccade::app_log();
      saccade::log_other_messages(options->source.log);  // encoders talk
      for (const std::string& line : options->warnings) options->source.log.warn("{}", line);
      exit_code = run(*options);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail(saccade::ExitCode::kUnexpected, "stdout: the results could not be written");
    return exit_code;
  } catch (const saccade::Error& error) {
    return fail(saccade::exit_code(error.kind()), saccade::error_text(error));
  } catch (const saccade::DeviceError& error) {  // outside a pipeline's step: while drawing, say
    return fail(saccade::ExitCode::kUnavailable, saccade::error_text(saccade::fault_of(error)));
  } catch (const std::bad_alloc&) {
    return fail(saccade::ExitCode::kUnexpected, "out of memory; try a smaller frame (--vf scale) or fewer --tokens");
  } catch (const std::exception& error) {
    return fail(saccade::ExitCode::kUnexpected, error.what());
  }
}

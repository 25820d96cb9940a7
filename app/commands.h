// The commands. Each returns the process's exit code and reports its own errors as one line on stderr, except that it
// may throw Error (setup), which main() prints and turns into its exit code.
#pragma once

namespace saccade {

struct Options;

int run_dump(const Options& options);
int run_profile(const Options& options);
int run_info(const Options& options);
int run_reconstruct(const Options& options);
int run_view(const Options& options);
int run_plan(const Options& options);
int run_work(const Options& options);
int run_status(const Options& options);
int run_verify(const Options& options);
int run_gc(const Options& options);
int run_retry(const Options& options);
int run_worker(const Options& options);
int dump_manifest(const Options& options);  // `dump` with a manifest: plan and work in one

}  // namespace saccade

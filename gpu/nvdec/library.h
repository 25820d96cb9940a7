// What gpu/nvcuvid's library exports beside the driver's calls; gpu/nvdec/kept_decoders.h finds them by name.
#pragma once

#pragma GCC visibility push(default)
extern "C" {

// Once, before anything else: the driver's library, by its path. Null, or what is wrong.
const char* saccade_nvcuvid_load(const char* path);
// As DecoderCache's. Streams are a CUstream.
void saccade_nvcuvid_keep(int most);
int saccade_nvcuvid_drop_idle();
void saccade_nvcuvid_announce(void* stream, int fresh);
void saccade_nvcuvid_use(void* stream, int* used, int* erred, long* failed_shown);
void saccade_nvcuvid_forget(void* stream);
}
#pragma GCC visibility pop

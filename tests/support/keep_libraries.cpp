// Linked into the program when it is built with AddressSanitizer: libraries stay loaded, so that what OpenGL's drivers
// leak can be told by its library (lsan.supp) and not only by addresses where nothing is any more.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) { return 0; }

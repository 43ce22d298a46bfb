// The kernels of every algorithm and fingerprint on the host double.
#define CUTPOINT_HOST_LAUNCHER(...) template class __VA_ARGS__;
#include <host_launchers.h>

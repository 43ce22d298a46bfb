// Includes every reference, which defines `reference_of` for each alternative of `algorithm_parameters`.
#pragma once

#include "host/algorithms/adler.h"
#include "host/algorithms/ae.h"
#include "host/algorithms/borg1.h"
#include "host/algorithms/buzhash.h"
#include "host/algorithms/crc32.h"
#include "host/algorithms/fastcdc.h"
#include "host/algorithms/fixed.h"
#include "host/algorithms/gear.h"
#include "host/algorithms/maxp.h"
#include "host/algorithms/mincdc.h"
#include "host/algorithms/rabin.h"
#include "host/algorithms/rabin_inck.h"
#include "host/algorithms/ram.h"
#include "host/algorithms/repmaxcdc.h"
#include "host/algorithms/ronomon.h"
#include "host/algorithms/seqcdc.h"

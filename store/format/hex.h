// Reads bytes that are written in hexadecimal.
#pragma once

#include <cutpoint/text.h>

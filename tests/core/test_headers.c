/* The headers can be included after <windows.h>, of whose lowercase and common macros these are some. That this
 * compiles is the test. */
#define near
#define far
#define NEAR
#define FAR
#define small char
#define hyper __int64
#define interface struct
#define IN
#define OUT
#define CONST const
#define ERROR 0
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))

#include "f64v_rotation.h"
#include "inverse.h"
#include "kernel.h"
#include "maps.h"
#include "parallel.h"
#include "regular.h"
#include "rotation.h"
#include "separate.h"
#include "svd3.h"
#include "tables.h"
#include "tps.h"
#include "weights.h"
#include "workspace.h"

typedef int headers_compiled; /* C wants a file to declare something */

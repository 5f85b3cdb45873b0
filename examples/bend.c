/* The core alone, without Python: a bar on two joints. The lower one is stretched to twice its length, the upper one
 * turned by 90 degrees; the bar keeps its width where linear blend skinning pinches it. */
#include "tps.h"

#include <stdio.h>
#include <stdlib.h>

static void need(tps_status status, int64_t where)
{
    if (status != TPS_OK) {
        fprintf(stderr, "%s (at %lld)\n", tps_status_text(status), (long long)where);
        exit(1);
    }
}

int main(void)
{
    const int32_t parents[2] = {-1, 0};
    const uint8_t inherits[2] = {1, 1};
    const double local[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,  /* the lower joint, at the origin */
                              1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1}; /* the upper one, one unit above */
    const double user[32] = {1, 0,  0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                             0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float points[15] = {0.2f, 0, 0, 0.2f, 0.5f, 0, 0.2f, 1, 0, 0.2f, 1.5f, 0, 0.2f, 2, 0};
    const int64_t row_start[6] = {0, 1, 2, 4, 5, 6}, joints[6] = {0, 0, 0, 1, 1, 1};
    const double weights[6] = {1, 1, 0.5, 0.5, 1, 1};
    int32_t order[2];
    int64_t where = -1;
    double bind[32], world[32];
    tps_skeleton *skeleton = NULL;
    tps_skin *skin = NULL;

    need(tps_parents_first(2, parents, order, &where), where);
    tps_bind_world(2, parents, order, local, bind);
    need(tps_skeleton_create(2, parents, bind, inherits, &skeleton, &where), where);
    need(tps_skeleton_pose(skeleton, user, world), -1);
    const tps_mesh mesh = {.vertex_count = 5,
                           .joint_count = 2,
                           .points = points,
                           .row_start = row_start,
                           .entry_count = 6,
                           .joints = joints,
                           .weights = weights};
    need(tps_skin_create(&mesh, &skin, &where), where);

    for (int method = 0; tps_method_name(method); method++) {
        float posed[15];
        need(tps_deform(&(tps_deform_job){.skin = skin,
                                          .skeleton = skeleton,
                                          .frame_count = 1,
                                          .world = world,
                                          .method = (tps_method)method,
                                          .points_out = posed}),
             -1);
        printf("%s:", tps_method_name(method));
        for (int i = 0; i < 5; i++) {
            printf(" (%.3f, %.3f)", (double)posed[3 * i], (double)posed[3 * i + 1]);
        }
        printf("\n");
    }
    tps_skin_free(skin);
    tps_skeleton_free(skeleton);
    return 0;
}

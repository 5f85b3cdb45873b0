/* Eight lanes. Included by lanes.inl. */

INLINE f32v all(float x)
{
    return (f32v){x, x, x, x, x, x, x, x};
}

/* In every lane: the sum of the four that it is one of. */
INLINE f32v sum_of_fours(f32v a)
{
    a += SHUFFLE(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
    return a + SHUFFLE(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
}

/* Rows become columns. */
INLINE void transpose(f32v r[F32_LANES])
{
    f32v a[8], b[8];
    for (int k = 0; k < 8; k += 2) {
        a[k] = SHUFFLE(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[k + 1] = SHUFFLE(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; k += 4) {
        b[k] = SHUFFLE(a[k], a[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        b[k + 1] = SHUFFLE(a[k], a[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        b[k + 2] = SHUFFLE(a[k + 1], a[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        b[k + 3] = SHUFFLE(a[k + 1], a[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int k = 0; k < 4; k++) {
        r[k] = SHUFFLE(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[k + 4] = SHUFFLE(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* Rows become columns, in each half. */
INLINE void transpose_halves(f32v r[4])
{
    f32v a = SHUFFLE(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13), b = SHUFFLE(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    f32v c = SHUFFLE(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13), d = SHUFFLE(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    r[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    r[1] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    r[2] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    r[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* GCC before 12 has no shuffle between vectors of different sizes. */
INLINE f32v joined(fours a, fours b)
{
#ifdef SHUFFLE_SIZES
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return (f32v){a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
#endif
}

INLINE fours low_half(f32v a)
{
#ifdef SHUFFLE_SIZES
    return __builtin_shufflevector(a, a, 0, 1, 2, 3);
#else
    return (fours){a[0], a[1], a[2], a[3]};
#endif
}

INLINE fours high_half(f32v a)
{
#ifdef SHUFFLE_SIZES
    return __builtin_shufflevector(a, a, 4, 5, 6, 7);
#else
    return (fours){a[4], a[5], a[6], a[7]};
#endif
}

/* Eight rows of four floats become four columns, and back. */
INLINE void columns_of_fours(const fours rows[F32_LANES], f32v columns[4])
{
    for (int i = 0; i < 4; i++) {
        columns[i] = joined(rows[i], rows[i + 4]);
    }
    transpose_halves(columns);
}

INLINE void fours_of_columns(f32v columns[4], fours rows[F32_LANES])
{
    transpose_halves(columns);
    for (int i = 0; i < 4; i++) {
        rows[i] = low_half(columns[i]);
        rows[i + 4] = high_half(columns[i]);
    }
}

/* From x y z x y z … */
INLINE vectors load_vectors(const float *p)
{
    f32v a = load(p), b = load(p + 8), c = load(p + 16);
    f32v ab = SHUFFLE(a, b, 0, 1, 2, 3, 12, 13, 14, 15);
    f32v ac = SHUFFLE(a, c, 4, 5, 6, 7, 8, 9, 10, 11);
    f32v bc = SHUFFLE(b, c, 0, 1, 2, 3, 12, 13, 14, 15);
    f32v xy = SHUFFLE(ac, bc, 2, 3, 9, 10, 6, 7, 13, 14);
    f32v yz = SHUFFLE(ab, ac, 1, 2, 8, 9, 5, 6, 12, 13);
    return (vectors){SHUFFLE(ab, xy, 0, 3, 8, 10, 4, 7, 12, 14), SHUFFLE(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15),
                     SHUFFLE(yz, bc, 1, 3, 8, 11, 5, 7, 12, 15)};
}

/* To x y z x y z … */
INLINE void store_vectors(float *to, vectors p)
{
    f32v xy = SHUFFLE(p.x, p.y, 0, 2, 8, 10, 4, 6, 12, 14), yz = SHUFFLE(p.y, p.z, 1, 3, 9, 11, 5, 7, 13, 15);
    f32v zx = SHUFFLE(p.z, p.x, 0, 2, 9, 11, 4, 6, 13, 15);
    f32v a = SHUFFLE(xy, zx, 0, 2, 8, 10, 4, 6, 12, 14), b = SHUFFLE(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15);
    f32v c = SHUFFLE(zx, yz, 1, 3, 9, 11, 5, 7, 13, 15);
    store(to, SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11));
    store(to + 8, SHUFFLE(c, a, 0, 1, 2, 3, 12, 13, 14, 15));
    store(to + 16, SHUFFLE(b, c, 4, 5, 6, 7, 12, 13, 14, 15));
}

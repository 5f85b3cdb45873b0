/* Four lanes. Included by lanes.inl. */

INLINE f32v all(float x)
{
    return (f32v){x, x, x, x};
}

/* In every lane: the sum of all four. */
INLINE f32v sum_of_fours(f32v a)
{
    a += SHUFFLE(a, a, 1, 0, 3, 2);
    return a + SHUFFLE(a, a, 2, 3, 0, 1);
}

/* Rows become columns. */
INLINE void transpose(f32v r[F32_LANES])
{
    f32v a = SHUFFLE(r[0], r[1], 0, 4, 1, 5), b = SHUFFLE(r[0], r[1], 2, 6, 3, 7);
    f32v c = SHUFFLE(r[2], r[3], 0, 4, 1, 5), d = SHUFFLE(r[2], r[3], 2, 6, 3, 7);
    r[0] = SHUFFLE(a, c, 0, 1, 4, 5);
    r[1] = SHUFFLE(a, c, 2, 3, 6, 7);
    r[2] = SHUFFLE(b, d, 0, 1, 4, 5);
    r[3] = SHUFFLE(b, d, 2, 3, 6, 7);
}

/* The same in and out of the lanes. */
INLINE void columns_of_fours(const fours rows[F32_LANES], f32v columns[4])
{
    memcpy(columns, rows, 4 * sizeof *columns);
    transpose(columns);
}

INLINE void fours_of_columns(f32v columns[4], fours rows[F32_LANES])
{
    transpose(columns);
    memcpy(rows, columns, 4 * sizeof *columns);
}

/* From x y z x y z … */
INLINE vectors load_vectors(const float *p)
{
    f32v a = load(p), b = load(p + 4), c = load(p + 8);
    f32v xy = SHUFFLE(b, c, 2, 3, 5, 6), yz = SHUFFLE(a, b, 1, 2, 4, 5);
    return (vectors){SHUFFLE(a, xy, 0, 3, 4, 6), SHUFFLE(yz, xy, 0, 2, 5, 7), SHUFFLE(yz, c, 1, 3, 4, 7)};
}

/* To x y z x y z … */
INLINE void store_vectors(float *to, vectors p)
{
    f32v xy = SHUFFLE(p.x, p.y, 0, 2, 4, 6), yz = SHUFFLE(p.y, p.z, 1, 3, 5, 7), zx = SHUFFLE(p.z, p.x, 0, 2, 5, 7);
    store(to, SHUFFLE(xy, zx, 0, 2, 4, 6));
    store(to + 4, SHUFFLE(yz, xy, 0, 2, 5, 7));
    store(to + 8, SHUFFLE(zx, yz, 1, 3, 5, 7));
}

/* The kernel of byte-level encoders: it cuts a text into pieces and looks each piece up.

   This is what is done for every byte of a text, and so it is in C, where a value that an index was computed from need
   not be checked once more and memory can be asked for before it is needed. What a long piece becomes that was not met
   before, `katapi.runtime.native.byte_pairs` finds out, in Python; what is derived from a vocabulary and a pattern,
   `katapi.runtime.native.tables` and `katapi.runtime.native.stepping` derive.

   - A text of ASCII is read where it lies. Any other is written as UTF-8 first.
   - Text is cut by an automaton that goes one step a character, two where both are ASCII, without a branch: a step says
     where before it a piece ended. What takes more than one character to tell, such as the end of "\n" in "\n   x", is
     found by going through the piece once more (`piece_end`).
   - Places are found for some tens of pieces, then these are looked up, so that the memory for all of them is on its
     way while the first is compared. A piece of up to 15 bytes is two numbers, the highest byte of the second its
     length. They are looked up in a direct-mapped memo, then among the tokens, and only then merged.
   - Longer pieces, and those with more ids than an entry holds, have a memo with their bytes. What that does not have
     is asked for.
   - What is looked up at random lies in large pages where there are such: finding a page takes longer than the rest of
     a look into memory that was not used for a while.

   A kernel can be shared between threads. What a text is worked on with belongs to a worker, which is kept for the next
   text; another thread that comes meanwhile gets another worker. While a long text is cut and looked up the interpreter's
   global lock is left to others, and taken for what must be asked. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PREFETCH(address) __builtin_prefetch(address)
#define APART __attribute__((noinline))
#else
#define UNLIKELY(x) (x)
#define PREFETCH(address) ((void)0)
#define APART
#endif

enum {
    PIECES = 64,                /* that are cut before they are looked up */
    PADDING = 32,               /* bytes behind a text, so that no piece is read beyond it */
    SHORT = 15,                 /* bytes of the longest piece that is two numbers */
    IDS = 6,                    /* that an entry of the memo holds */
    MEMO_BITS = 16,             /* of the number of its entries */
    LONG_BITS = 15,             /* of the number of entries of the memo of longer pieces */
    LONGEST_KEPT = 256,         /* bytes; a longer piece seldom comes twice */
    UNLOCKED = 1 << 13,         /* bytes of the shortest text that leaves the lock to others: some tens of microseconds */
    LARGE = 1 << 20,            /* bytes of a text, or ids, that room is not kept for */
    PAGE = 1 << 21,             /* bytes of a large page */
    MOST_IDLE = 16,             /* workers that are kept; each has a memo of two megabytes */
    NONE = 0xFF,                /* no state */
    ENDS = 0x100,               /* of a way: a piece can end before the character */
    NEXT = 0xFF,                /* of a step: the state that it leads to, or one of these two */
    UNSURE = 0xFE,              /* it takes a look at the whole piece */
    OVER = 0xFF,                /* the text has ended */
    BEFORE_LAST = 0x100,        /* of a step: a piece ended before the last character */
    BEFORE = 0x200,             /* of a step: one ended before this character */
    SINGLY = 8,                 /* of a double step: it must be gone singly */
    PARTS_CROSS = 1 << 17,      /* as `katapi.runtime.native.crossings` writes them */
    CROSSING_BITS = 20,
    PART_ALONE = 2,
    NO_PAIR = 0x7FFFFFF         /* the rank of two parts that do not merge: above all ranks */
};

#define ID 0x3FFFF              /* the bits of an id */
#define COUNT 54                /* the bits below a count of ids */
#define PART 0x2000000000000000u /* marks a part of a piece, where that makes a difference */
#define WHOLE_ONLY 0x100000     /* marks the id of a token that a piece can be, and no part of one */
#define MIX 0x9E3779B97F4A7C15u
#define MIX_HIGH 0xC2B2AE3D27D4EB4Fu

/* A piece of up to 15 bytes and its ids, 18 bits each: three and their count in `ids`, three more in `more`. */
typedef struct {
    uint64_t low, high, ids, more;
} Known;

/* Another piece: its ids, then its bytes. */
typedef struct {
    uint64_t hash;
    int64_t size;
    int64_t count;
    int32_t ids[];
} KnownLong;

/* What one text at a time is worked on with. */
typedef struct {
    PyObject *missing;
    Known *memo;
    KnownLong **longs;
    uint8_t *text;              /* in UTF-8, where it is not of ASCII */
    int64_t text_room;
    int32_t *ids;
    int64_t room;
    int leaves_lock;            /* whether the text is long enough for that */
    PyThreadState *left;        /* with which the lock is taken again; NULL while it is held */
} Worker;

typedef struct {
    PyObject_HEAD
    PyObject *make;             /* makes what a worker asks */
    uint8_t *tables;            /* all of them */
    /* What is derived from the vocabulary, and an object for each id that was listed. */
    const uint8_t *shorts, *mediums, *characters, *crossings, *byte_pairs, *pairs, *ids;
    uint64_t short_mask, medium_mask, pair_mask, part;
    int64_t vocabulary;
    PyObject **integers;
    /* What is derived from the pattern. `classes` is the number of classes of characters, and the class of the end. */
    const uint8_t *leads, *pages, *kinds, *starts, *ways, *steps;
    uint32_t classes, states, bits;
    uint32_t *doubles;          /* by a state and two classes */
    uint32_t first[256], second[256];
    /* Workers that have nothing to do. */
    Worker *idle[MOST_IDLE];
    int idle_count;
} Kernel;

/* A text, and how far it is cut. */
typedef struct {
    const uint8_t *b;
    int64_t n;
    int64_t copied_from;        /* where the last bytes begin, which are copied so that more can be read behind them */
    int64_t whole;              /* before this place 16 bytes can be read where the text lies */
    int64_t start;              /* of the piece that has not ended */
    int64_t q, last;            /* the next character and the one before it */
    uint32_t state;
    uint8_t copied[2 * PADDING + 16];
} Cutting;

static inline uint16_t
load16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t
load64(const uint8_t *p)
{
    return (uint64_t)load32(p) | (uint64_t)load32(p + 4) << 32;
}

static inline int
is_wide_lead(uint8_t byte)
{
    return byte >> 4 == 0xE;
}

/* ---- Classes of characters ---- */

/* The class of the character at `q`, and its length in bytes; at the end that of the end. */
static inline uint32_t
class_of(const Kernel *k, const Cutting *cutting, int64_t q, int64_t *size)
{
    const uint8_t *p = cutting->b + q;
    uint32_t code;

    if (q >= cutting->n) {
        *size = 0;
        return k->classes;
    }
    if (*p < 0x80) {
        *size = 1;
        return k->leads[*p];
    }
    if (*p < 0xE0) {
        code = (uint32_t)(*p & 0x1F) << 6 | (p[1] & 0x3F);
        *size = 2;
    }
    else if (*p < 0xF0) {
        code = (uint32_t)(*p & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        *size = 3;
    }
    else {
        code = (uint32_t)(*p & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
        *size = 4;
    }
    return k->kinds[(uint32_t)load16(k->pages + (code >> 6) * 2) << 6 | (code & 63)];
}

/* ---- Cutting ---- */

/* Where the match ends that begins at `q`, as the automaton says; -1 where there is none. */
static int64_t
match_end(const Kernel *k, const Cutting *cutting, int64_t q)
{
    int64_t size, end = -1;
    uint32_t kind = class_of(k, cutting, q, &size);
    uint32_t state = k->starts[3 * kind];

    while (state != NONE) {
        kind = class_of(k, cutting, q, &size);
        uint32_t way = load16(k->ways + 2 * (state * (k->classes + 1) + kind));
        if (way & ENDS)
            end = q;
        state = way & 0xFF;
        q += size;
    }
    return end;
}

/* Where the piece ends that begins at `q`: a match, or what lies before the next one in the same region. */
static int64_t
piece_end(const Kernel *k, const Cutting *cutting, int64_t q)
{
    int64_t size, end = match_end(k, cutting, q);
    uint32_t kind = class_of(k, cutting, q, &size);
    uint8_t region = k->starts[3 * kind + 1], gaps = k->starts[3 * kind + 2];

    if (end >= 0)
        return end;
    for (;;) {
        q += size;
        if (!gaps || q >= cutting->n)
            return q;
        kind = class_of(k, cutting, q, &size);
        if (k->starts[3 * kind + 1] != region || match_end(k, cutting, q) >= 0)
            return q;
    }
}

/* Cuts on, until there are enough pieces or the text has ended; gives their number, and where each ends in `ends`. */
static int64_t
cut(const Kernel *k, Cutting *cutting, int64_t *ends)
{
    const uint8_t *b = cutting->b;
    const int64_t n = cutting->n;
    const uint32_t row = k->classes + 1, bits = 2 * k->bits;
    int64_t *e = ends, *const enough = ends + PIECES;
    int64_t q = cutting->q, last = cutting->last;
    uint32_t state = cutting->state;

    for (;;) {
        int64_t size;
        uint32_t kind = class_of(k, cutting, q, &size);
        uint32_t step = load16(k->steps + 2 * (state * row + kind));
        if ((step & NEXT) == UNSURE) {
            q = piece_end(k, cutting, e > ends ? e[-1] : cutting->start);
            *e++ = q;
            last = q;
            state = 0;
        }
        else {
            *e = last;
            e += (step & BEFORE_LAST) != 0;
            *e = q;
            e += (step & BEFORE) != 0;
            if ((step & NEXT) == OVER)
                break;
            state = step & NEXT;
            last = q;
            q += size;
            if (size == 1 && q + 8 <= n && b[q] < 0x80) {
                /* All that is left of the loop is four times: add, load, and store where a piece may have ended. */
                const uint32_t *at = k->doubles + ((size_t)state << bits);
                do {
                    uint32_t double_step;
#define DOUBLE_STEP(i)                                                                                                 \
    double_step = at[k->first[b[q + i]] | k->second[b[q + i + 1]]];                                                    \
    if (UNLIKELY(double_step & SINGLY)) {                                                                              \
        q += i;                                                                                                        \
        break;                                                                                                         \
    }                                                                                                                  \
    at = k->doubles + (double_step >> 4);                                                                              \
    *e = q + i - 1;                                                                                                    \
    e += double_step & 1;                                                                                              \
    *e = q + i;                                                                                                        \
    e += double_step >> 1 & 1;                                                                                         \
    *e = q + i + 1;                                                                                                    \
    e += double_step >> 2 & 1;
                    DOUBLE_STEP(0)
                    DOUBLE_STEP(2)
                    DOUBLE_STEP(4)
                    DOUBLE_STEP(6)
#undef DOUBLE_STEP
                    q += 8;
                } while (q + 8 <= n && e < enough);
                state = (uint32_t)((size_t)(at - k->doubles) >> bits);
                last = q - 1;
            }
        }
        if (e >= enough)
            break;
    }
    cutting->q = q;
    cutting->last = last;
    cutting->state = state;
    if (e > ends)
        cutting->start = e[-1];
    return e - ends;
}

/* ---- The interpreter's lock ---- */

static void
leave_lock(Worker *w)
{
    if (w->leaves_lock)
        w->left = PyEval_SaveThread();
}

static void
take_lock(Worker *w)
{
    if (w->left != NULL) {
        PyEval_RestoreThread(w->left);
        w->left = NULL;
    }
}

/* ---- Looking up ---- */

static const uint64_t LOW[16] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
    ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
static const uint64_t HIGH[16] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF};

/* Where a piece can be read 16 bytes at a time. */
static inline const uint8_t *
at(const Cutting *cutting, int64_t p)
{
    return p < cutting->whole ? cutting->b + p : cutting->copied + (p - cutting->copied_from);
}

static inline uint64_t
slot_of(uint64_t low, uint64_t high)
{
    return (low * MIX + high * MIX_HIGH) >> (64 - MEMO_BITS);
}

static inline int32_t *
put(const Known *known, int32_t *out)
{
    uint64_t count = known->ids >> COUNT;

    out[0] = (int32_t)(known->ids & ID);
    out[1] = (int32_t)(known->ids >> 18 & ID);
    out[2] = (int32_t)(known->ids >> 36 & ID);
    if (UNLIKELY(count > 3)) {
        out[3] = (int32_t)(known->more & ID);
        out[4] = (int32_t)(known->more >> 18 & ID);
        out[5] = (int32_t)(known->more >> 36 & ID);
    }
    return out + count;
}

/* Where the search for a piece of up to 15 bytes among the tokens begins. */
static inline const uint8_t *
place_of_token(const Kernel *k, uint64_t low, uint64_t high)
{
    uint64_t key = high & ~PART;

    if (key >> 56 < 8)
        return k->shorts + 16 * (((low | key) * MIX >> 36) & k->short_mask);
    return k->mediums + 32 * (((low * MIX + key * MIX_HIGH) >> 36) & k->medium_mask);
}

/* The id of a piece of up to 15 bytes that is a token; -1 where it is none. */
static int64_t
token_of(const Kernel *k, uint64_t low, uint64_t high)
{
    const uint8_t *place = place_of_token(k, low, high), *end;
    uint64_t key = high & ~PART, found;
    int64_t token;

    if (key >> 56 < 8) {
        end = k->shorts + 16 * (k->short_mask + 1);
        for (key |= low; (found = load64(place)) != key;) {
            if (found == ~0ull)
                return -1;
            place = place + 16 == end ? k->shorts : place + 16;
        }
        token = (int64_t)load32(place + 8);
    }
    else {
        end = k->mediums + 32 * (k->medium_mask + 1);
        while ((found = load64(place + 8)) != key || load64(place) != low) {
            if (found == ~0ull)
                return -1;
            place = place + 32 == end ? k->mediums : place + 32;
        }
        token = (int64_t)load32(place + 16);
    }
    return token >= WHOLE_ONLY && high & PART ? -1 : token & ID;
}

/* The rank of the token that two parts become. */
static inline uint32_t
rank_of_pair(const Kernel *k, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 18 | right, found;

    for (uint64_t place = (key * MIX >> 40) & k->pair_mask;; place = (place + 1) & k->pair_mask) {
        found = load64(k->pairs + 8 * place);
        if (found >> 18 == key)
            return found & ID;
        if (found == ~0ull)
            return NO_PAIR;
    }
}

/* A piece of up to 15 bytes that is no token: again and again the leftmost pair of the lowest rank merges. */
static int32_t *
merged(const Kernel *k, const uint8_t *p, int64_t size, int32_t *out)
{
    uint32_t parts[SHORT], ranks[SHORT]; /* the rank of a part, and that of the pair that begins with it */
    int last = (int)size - 1, best = 0;

    for (int i = 0; i < last; i++) {
        parts[i] = p[i];
        ranks[i] = load32(k->byte_pairs + 4 * ((uint32_t)p[i] << 8 | p[i + 1]));
    }
    parts[last] = p[last];
    for (;;) {
        uint32_t lowest = NO_PAIR;
        for (int i = 0; i < last; i++)
            if (ranks[i] < lowest) {
                lowest = ranks[i];
                best = i;
            }
        if (lowest == NO_PAIR)
            break;
        parts[best] = lowest;
        last--;
        for (int i = best + 1; i <= last; i++) {
            parts[i] = parts[i + 1];
            ranks[i - 1] = ranks[i];
        }
        if (best < last)
            ranks[best] = rank_of_pair(k, lowest, parts[best + 1]);
        if (best > 0)
            ranks[best - 1] = rank_of_pair(k, parts[best - 1], lowest);
    }
    for (int i = 0; i <= last; i++)
        *out++ = (int32_t)load32(k->ids + 4 * parts[i]);
    return out;
}

/* Asks for the ids of a piece that is no token of up to 15 bytes. Gives bytes, or NULL with an error. */
static PyObject *
ask(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, int is_part)
{
    PyObject *piece = PyBytes_FromStringAndSize(NULL, size + PADDING), *length, *ids;

    if (piece == NULL)
        return NULL;
    memcpy(PyBytes_AS_STRING(piece), p, (size_t)size);
    memset(PyBytes_AS_STRING(piece) + size, 0xFF, PADDING);
    length = PyLong_FromLongLong(size);
    if (length == NULL) {
        Py_DECREF(piece);
        return NULL;
    }
    PyObject *arguments[] = {piece, length, is_part ? Py_True : Py_False};
    ids = PyObject_Vectorcall(w->missing, arguments, 3, NULL);
    Py_DECREF(piece);
    Py_DECREF(length);
    int good = ids != NULL && PyBytes_Check(ids) && PyBytes_GET_SIZE(ids) <= 4 * size;
    for (int64_t i = 0; good && i < PyBytes_GET_SIZE(ids) / 4; i++) {
        int32_t id;
        memcpy(&id, PyBytes_AS_STRING(ids) + 4 * i, 4);
        good = id >= 0 && id < k->vocabulary;
    }
    if (ids != NULL && !good) {
        Py_CLEAR(ids);
        PyErr_SetString(PyExc_ValueError, "a piece was given more ids than it has bytes, or one that is no token");
    }
    return ids;
}

static uint64_t
hash_of(const uint8_t *p, int64_t size)
{
    uint64_t mixed = (uint64_t)size, rest = 0;

    for (; size >= 8; size -= 8, p += 8) {
        mixed = (mixed ^ load64(p)) * MIX;
        mixed ^= mixed >> 32;
    }
    for (int i = 0; i < size; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    mixed = (mixed ^ rest) * MIX;
    return mixed ^ mixed >> 32;
}

/* The ids of a piece or a part of one that is no short token: from its memo, merged or asked for. NULL with an error. */
static APART int32_t *
asked(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, int is_part, int32_t *out)
{
    int keep = size <= LONGEST_KEPT;
    int64_t marked = size << 1 | is_part;
    uint64_t hash = keep ? hash_of(p, size) + (uint64_t)is_part : 0;
    KnownLong **place = &w->longs[hash >> (64 - LONG_BITS)], *known = *place;

    if (keep && known != NULL && known->hash == hash && known->size == marked
        && memcmp(known->ids + known->count, p, (size_t)size) == 0) {
        memcpy(out, known->ids, 4 * (size_t)known->count);
        return out + known->count;
    }
    int64_t count;
    if (size <= SHORT)
        count = merged(k, p, size, out) - out;
    else {
        take_lock(w);
        PyObject *ids = ask(k, w, p, size, is_part);
        if (ids == NULL)
            return NULL;
        count = PyBytes_GET_SIZE(ids) / 4;
        memcpy(out, PyBytes_AS_STRING(ids), 4 * (size_t)count);
        Py_DECREF(ids);
        leave_lock(w);
    }
    if (keep) {
        known = PyMem_RawMalloc(sizeof(KnownLong) + 4 * (size_t)count + (size_t)size);
        if (known != NULL) { /* without memory it is asked for again */
            known->hash = hash;
            known->size = marked;
            known->count = count;
            memcpy(known->ids, out, 4 * (size_t)count);
            memcpy(known->ids + count, p, (size_t)size);
            PyMem_RawFree(*place);
            *place = known;
        }
    }
    return out + count;
}

static int32_t *in_parts(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, int32_t *out);

/* A piece or a part of up to 15 bytes that the memo does not have; `cut` says that it was cut where that can be. */
static APART int32_t *
unknown(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, uint64_t low, uint64_t high, int cut, int32_t *out)
{
    Known *known = &w->memo[slot_of(low, high)];
    int64_t token = token_of(k, low, high);
    int32_t *behind;

    if (token >= 0) {
        *out = (int32_t)token;
        behind = out + 1;
    }
    else {
        if (!cut && size >= 8 && p[size - 1] >= 0x80)
            return in_parts(k, w, p, size, out);
        behind = asked(k, w, p, size, (high & PART) != 0, out);
    }
    if (behind == NULL || behind - out > IDS)
        return behind;
    uint64_t ids[IDS] = {0};
    for (int i = 0; i < behind - out; i++)
        ids[i] = (uint64_t)out[i];
    known->low = low;
    known->high = high;
    known->ids = ids[0] | ids[1] << 18 | ids[2] << 36 | (uint64_t)(behind - out) << COUNT;
    known->more = ids[3] | ids[4] << 18 | ids[5] << 36;
    return behind;
}

/* A piece, or a part of one to which no token reaches from outside; `part` is 0, or marks a part. */
static int32_t *
segment(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, uint64_t part, int32_t *out)
{
    if (size > SHORT)
        return asked(k, w, p, size, part != 0, out);
    uint64_t low = 0, high = 0;
    for (int i = 0; i < size && i < 8; i++)
        low |= (uint64_t)p[i] << 8 * i;
    for (int i = 8; i < size; i++)
        high |= (uint64_t)p[i] << 8 * (i - 8);
    high |= (uint64_t)size << 56 | part;
    const Known *known = &w->memo[slot_of(low, high)];
    return known->low == low && known->high == high ? put(known, out) : unknown(k, w, p, size, low, high, 1, out);
}

/* ---- Characters of three bytes ---- */

static inline uint32_t
character_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline int32_t
id_of_character(const Kernel *k, uint32_t c)
{
    return (int32_t)load32(k->characters + (((c & 15) << 12 | (c >> 8 & 63) << 6 | (c >> 16 & 63)) << 2));
}

/* Whether a bit is set for two characters, or parts of them, the first byte of each in the lowest place. */
static inline int
crosses(const Kernel *k, uint64_t before, uint64_t here)
{
    uint64_t bit = (before * 0x9E3779B1u ^ here * 0x85EBCA77u) >> 8 & ((1 << CROSSING_BITS) - 1);

    return k->crossings[bit >> 3] >> (bit & 7) & 1;
}

/* A piece of 8 bytes or more, cut between characters of three bytes where no token holds both.

   So no merge ever reaches across, and each part has the ids that it has by itself. */
static APART int32_t *
in_parts(const Kernel *k, Worker *w, const uint8_t *p, int64_t size, int32_t *out)
{
    const uint8_t *const end = p + size, *start = p;
    uint32_t before = 0;
    uint64_t part = 0;
    int32_t token;

    while (p < end) {
        if (!is_wide_lead(*p)) {
            before = 0;
            p++;
            continue;
        }
        uint32_t here = character_at(p);
        if (before != 0 && !crosses(k, before, here)) {
            uint8_t ends = k->crossings[PARTS_CROSS + (before >> 12 & 0x3F0) + (*p & 15)];
            if (ends == 0
                || (ends != PART_ALONE && !crosses(k, before >> 16, here) && !crosses(k, before >> 16, here & 0xFFFF))) {
                part = k->part;
                if (p - start == 3 && (token = id_of_character(k, before)) >= 0)
                    *out++ = token;
                else if ((out = segment(k, w, start, p - start, part, out)) == NULL)
                    return NULL;
                start = p;
            }
        }
        before = here;
        p += 3;
    }
    if (end - start == 3 && before != 0 && (token = id_of_character(k, before)) >= 0) {
        *out++ = token;
        return out;
    }
    return segment(k, w, start, end - start, part, out);
}

/* ---- Texts ---- */

/* Makes room for more ids behind `count` of them. Gives -1 with an error. */
static int
make_room(Worker *w, int64_t count, int64_t more)
{
    if (count + more + 8 <= w->room)
        return 0;
    int64_t room = count + more + (count + more) / 2 + 4096;
    int32_t *ids = PyMem_RawRealloc(w->ids, 4 * (size_t)room);
    if (ids == NULL) {
        take_lock(w);
        PyErr_NoMemory();
        return -1;
    }
    w->ids = ids;
    w->room = room;
    return 0;
}

/* The ids of a text in UTF-8 into `ids`; gives their number, or -1 with an error and the lock taken. */
static int64_t
encode_bytes(const Kernel *k, Worker *w, Cutting *cutting)
{
    int64_t ends[PIECES + 16], count = 0, p = 0;

    while (p < cutting->n) {
        uint64_t lows[PIECES + 16], highs[PIECES + 16];
        const Known *places[PIECES + 16];
        int64_t pieces = cut(k, cutting, ends), begin = p;

        if (pieces == 0)
            break;
        if (make_room(w, count, ends[pieces - 1] - p) < 0)
            return -1;
        /* The memory is asked for the entries of all of them before the first is looked at. */
        for (int64_t i = 0; i < pieces; i++) {
            int64_t size = ends[i] - begin;
            const uint8_t *b = at(cutting, begin);
            if (size > SHORT || (size >= 8 && is_wide_lead(*b)))
                places[i] = NULL;
            else {
                lows[i] = load64(b) & LOW[size];
                highs[i] = (load64(b + 8) & HIGH[size]) | (uint64_t)size << 56;
                places[i] = &w->memo[slot_of(lows[i], highs[i])];
                PREFETCH(places[i]);
            }
            begin = ends[i];
        }
        int32_t *out = w->ids + count;
        for (int64_t i = 0; i < pieces; i++) {
            const Known *known = places[i];
            if (known == NULL)
                out = in_parts(k, w, cutting->b + p, ends[i] - p, out);
            else if (known->low == lows[i] && known->high == highs[i])
                out = put(known, out);
            else
                out = unknown(k, w, cutting->b + p, ends[i] - p, lows[i], highs[i], 0, out);
            if (UNLIKELY(out == NULL))
                return -1;
            p = ends[i];
        }
        count = out - w->ids;
    }
    return count;
}

/* Writes a text as UTF-8 with padding behind it, and gives its length; -1 with an error. */
static int64_t
write_utf8(Worker *w, PyObject *text)
{
    const int64_t length = PyUnicode_GET_LENGTH(text);
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    const int64_t room = length * (kind == PyUnicode_1BYTE_KIND ? 2 : kind == PyUnicode_2BYTE_KIND ? 3 : 4) + PADDING;

    if (room > w->text_room) {
        uint8_t *larger = PyMem_Realloc(w->text, (size_t)room);
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        w->text = larger;
        w->text_room = room;
    }
    uint8_t *o = w->text;
    for (int64_t i = 0; i < length; i++) {
#if defined(__SSE2__)
        if (kind == PyUnicode_2BYTE_KIND) {
            const __m128i high = _mm_set1_epi16((short)0xFF80);
            while (i + 8 <= length) {
                __m128i units = _mm_loadu_si128((const __m128i *)((const Py_UCS2 *)data + i));
                __m128i ascii = _mm_cmpeq_epi16(_mm_and_si128(units, high), _mm_setzero_si128());
                if (_mm_movemask_epi8(ascii) != 0xFFFF)
                    break;
                _mm_storel_epi64((__m128i *)o, _mm_packus_epi16(units, units));
                o += 8;
                i += 8;
            }
            if (i == length)
                break;
        }
#endif
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c < 0x80)
            *o++ = (uint8_t)c;
        else if (c < 0x800) {
            *o++ = (uint8_t)(0xC0 | c >> 6);
            *o++ = (uint8_t)(0x80 | (c & 0x3F));
        }
        else if (c < 0x10000) {
            if (UNLIKELY(c >= 0xD800 && c < 0xE000)) {
                PyObject *none = PyUnicode_AsUTF8String(text); /* which raises the error that such a text has */
                Py_XDECREF(none);
                return -1;
            }
            *o++ = (uint8_t)(0xE0 | c >> 12);
            *o++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
            *o++ = (uint8_t)(0x80 | (c & 0x3F));
        }
        else {
            *o++ = (uint8_t)(0xF0 | c >> 18);
            *o++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
            *o++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
            *o++ = (uint8_t)(0x80 | (c & 0x3F));
        }
    }
    memset(o, 0xFF, PADDING);
    return o - w->text;
}

static int
checked(PyObject *text)
{
    if (PyUnicode_Check(text))
        return 0;
    PyErr_Format(PyExc_TypeError, "a text is a str, not %.100s", Py_TYPE(text)->tp_name);
    return -1;
}

/* The ids of a text into `ids`; gives their number, or -1 with an error. */
static int64_t
encode(const Kernel *k, Worker *w, PyObject *text)
{
    Cutting cutting = {0};

    if (checked(text) < 0)
        return -1;
    cutting.last = -1;
    if (PyUnicode_IS_ASCII(text)) {
        cutting.b = PyUnicode_DATA(text);
        cutting.n = PyUnicode_GET_LENGTH(text);
        cutting.copied_from = cutting.n < PADDING ? 0 : cutting.n - PADDING;
        cutting.whole = cutting.n < 16 ? 0 : cutting.n - 15;
        memcpy(cutting.copied, cutting.b + cutting.copied_from, (size_t)(cutting.n - cutting.copied_from));
    }
    else {
        cutting.n = write_utf8(w, text);
        if (cutting.n < 0)
            return -1;
        cutting.b = w->text;
        cutting.whole = cutting.n;
    }
    w->leaves_lock = cutting.n >= UNLOCKED;
    leave_lock(w);
    int64_t count = encode_bytes(k, w, &cutting);
    take_lock(w);
    return count;
}

/* ---- Memory ---- */

/* Memory for `free`, in large pages where there are such and it fills one; NULL where there is none. */
static void *
large(size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= PAGE) {
        size_t whole = (size + PAGE - 1) / PAGE * PAGE;
        void *memory = aligned_alloc(PAGE, whole);
        if (memory != NULL)
            madvise(memory, whole, MADV_HUGEPAGE); /* or it stays as it is */
        return memory;
    }
#endif
    return malloc(size);
}

/* ---- Workers ---- */

static void
dismiss(Worker *w)
{
    for (int64_t i = 0; w->longs != NULL && i < (int64_t)1 << LONG_BITS; i++)
        PyMem_RawFree(w->longs[i]);
    PyMem_Free(w->longs);
    free(w->memo);
    PyMem_Free(w->text);
    PyMem_RawFree(w->ids);
    Py_XDECREF(w->missing);
    PyMem_Free(w);
}

/* A worker with nothing to do; NULL with an error. */
static Worker *
taken(Kernel *k)
{
    if (k->idle_count > 0)
        return k->idle[--k->idle_count];
    Worker *w = PyMem_Calloc(1, sizeof(Worker));
    if (w == NULL)
        return (Worker *)PyErr_NoMemory();
    w->memo = large(sizeof(Known) << MEMO_BITS);
    w->longs = PyMem_Calloc((size_t)1 << LONG_BITS, sizeof(KnownLong *));
    if (w->memo == NULL || w->longs == NULL)
        PyErr_NoMemory();
    else {
        memset(w->memo, 0xFF, sizeof(Known) << MEMO_BITS); /* no piece has such a length */
        w->missing = PyObject_CallNoArgs(k->make);
    }
    if (w->missing == NULL) {
        dismiss(w);
        return NULL;
    }
    return w;
}

static void
put_back(Kernel *k, Worker *w)
{
    if (w->room > LARGE) {
        PyMem_RawFree(w->ids);
        w->ids = NULL;
        w->room = 0;
    }
    if (w->text_room > LARGE) {
        PyMem_Free(w->text);
        w->text = NULL;
        w->text_room = 0;
    }
    if (k->idle_count < MOST_IDLE)
        k->idle[k->idle_count++] = w;
    else
        dismiss(w);
}

/* ---- What Python sees ---- */

static PyObject *
listed(const Kernel *k, const Worker *w, int64_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    /* First where the integers lie, then they themselves, so that the memory brings many at a time. */
    for (int64_t i = 0; list != NULL && i < count;) {
        int64_t first = i, behind = i + PIECES < count ? i + PIECES : count;
        for (; i < behind; i++) {
            PyObject *integer = k->integers[w->ids[i]];
            if (UNLIKELY(integer == NULL)
                && (integer = k->integers[w->ids[i]] = PyLong_FromLong(w->ids[i])) == NULL)
                break;
            PyList_SET_ITEM(list, (Py_ssize_t)i, integer);
        }
        for (int64_t each = first; each < i; each++)
            Py_INCREF(PyList_GET_ITEM(list, (Py_ssize_t)each));
        if (i < behind)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *
Kernel_encode(Kernel *k, PyObject *text)
{
    Worker *w = taken(k);
    if (w == NULL)
        return NULL;
    int64_t count = encode(k, w, text);
    PyObject *list = count < 0 ? NULL : listed(k, w, count);

    put_back(k, w);
    return list;
}

static PyObject *
Kernel_packed(Kernel *k, PyObject *text)
{
    Worker *w = taken(k);
    if (w == NULL)
        return NULL;
    int64_t count = encode(k, w, text);
    PyObject *packed = count < 0 ? NULL : PyByteArray_FromStringAndSize((const char *)w->ids, 4 * (Py_ssize_t)count);

    put_back(k, w);
    return packed;
}

static PyObject *
Kernel_packed64(Kernel *k, PyObject *text)
{
    Worker *w = taken(k);
    if (w == NULL)
        return NULL;
    int64_t count = encode(k, w, text);
    PyObject *packed = count < 0 ? NULL : PyBytes_FromStringAndSize(NULL, 8 * (Py_ssize_t)count);

    for (int64_t i = 0; packed != NULL && i < count; i++) {
        int64_t id = w->ids[i];
        memcpy(PyBytes_AS_STRING(packed) + 8 * i, &id, 8);
    }
    put_back(k, w);
    return packed;
}

static PyObject *
Kernel_count(Kernel *k, PyObject *text)
{
    Worker *w = taken(k);
    if (w == NULL)
        return NULL;
    int64_t count = encode(k, w, text);

    put_back(k, w);
    return count < 0 ? NULL : PyLong_FromLongLong(count);
}

static PyObject *
Kernel_pieces(Kernel *k, PyObject *text)
{
    Cutting cutting = {0};
    int64_t ends[PIECES + 16];
    PyObject *list = NULL, *piece;
    Worker *w = taken(k);

    if (w == NULL)
        return NULL;
    cutting.n = checked(text) < 0 ? -1 : write_utf8(w, text);
    cutting.b = w->text;
    cutting.last = -1;
    if (cutting.n >= 0)
        list = PyList_New(0);
    for (int64_t p = 0; list != NULL && p < cutting.n;) {
        int64_t pieces = cut(k, &cutting, ends);
        for (int64_t i = 0; list != NULL && i < pieces; p = ends[i++]) {
            piece = PyBytes_FromStringAndSize((const char *)w->text + p, (Py_ssize_t)(ends[i] - p));
            if (piece == NULL || PyList_Append(list, piece) < 0)
                Py_CLEAR(list);
            Py_XDECREF(piece);
        }
    }
    put_back(k, w);
    return list;
}

/* A table: where it is, its name, and the bytes of a unit of it; `count` is their number, 0 where any will do. */
typedef struct {
    const uint8_t **table;
    const char *name;
    int64_t unit, count;
    int64_t ahead;              /* bytes before what is meant */
} Table;

/* Copies tables to one place, each in lines of the cache. Gives -1 with an error where one is of another length. */
static int
copy_tables(Kernel *k, PyObject *given, Table *tables, int number)
{
    size_t size = 0;

    for (int i = 0; i < number; i++) {
        PyObject *found = PyDict_GetItemString(given, tables[i].name);
        int64_t bytes = found != NULL && PyBytes_Check(found) ? PyBytes_GET_SIZE(found) - tables[i].ahead : -1;
        if (bytes < 0 || bytes % tables[i].unit != 0
            || (tables[i].count > 0 && bytes != tables[i].unit * tables[i].count)) {
            PyErr_Format(PyExc_ValueError, "the table %s is not there or of a wrong length", tables[i].name);
            return -1;
        }
        tables[i].count = bytes / tables[i].unit;
        size += ((size_t)bytes + 63) / 64 * 64;
    }
    k->tables = large(size + 64);
    if (k->tables == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    uint8_t *place = (uint8_t *)(((uintptr_t)k->tables + 63) / 64 * 64);
    for (int i = 0; i < number; i++) {
        size_t bytes = (size_t)(tables[i].unit * tables[i].count);
        memcpy(place, PyBytes_AS_STRING(PyDict_GetItemString(given, tables[i].name)) + tables[i].ahead, bytes);
        *tables[i].table = place;
        place += (bytes + 63) / 64 * 64;
    }
    return 0;
}

/* The steps of two characters of ASCII at once, by a state and both classes. */
static int
double_steps(Kernel *k)
{
    const uint32_t row = k->classes + 1, other = k->classes + 1;

    for (k->bits = 1; 1u << k->bits <= other; k->bits++)
        ;
    for (uint32_t byte = 0; byte < 256; byte++) {
        k->second[byte] = byte < 0x80 ? k->leads[byte] : other;
        k->first[byte] = k->second[byte] << k->bits;
    }
    k->doubles = PyMem_Malloc(sizeof(uint32_t) * (size_t)k->states << 2 * k->bits);
    if (k->doubles == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t both = 0; both < (uint32_t)k->states << 2 * k->bits; both++) {
        uint32_t state = both >> 2 * k->bits, first = both >> k->bits & ((1u << k->bits) - 1);
        uint32_t second = both & ((1u << k->bits) - 1);
        k->doubles[both] = SINGLY;
        if (first >= k->classes || second >= k->classes)
            continue;
        uint32_t one = load16(k->steps + 2 * (state * row + first));
        if ((one & NEXT) >= UNSURE)
            continue;
        uint32_t two = load16(k->steps + 2 * ((one & NEXT) * row + second));
        if ((two & NEXT) < UNSURE)
            k->doubles[both] = ((two & NEXT) << 2 * k->bits) << 4 | (two >> 8 & 3) << 1 | (one >> 8 & 3);
    }
    return 0;
}

static int
is_power(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static int
Kernel_init(Kernel *k, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"tables", "make", NULL};
    PyObject *given, *make;
    const uint8_t *differ, *bounds;
    enum { SHORTS, MEDIUMS, PAIRS, KINDS, IDS_OF_RANKS, BOUNDS, STARTS, STEPS, WAYS };
    Table tables[] = {
        [SHORTS] = {&k->shorts, "short", 16, 0, 16}, [MEDIUMS] = {&k->mediums, "medium", 32, 0, 16},
        [PAIRS] = {&k->pairs, "pairs", 8, 0, 0}, [KINDS] = {&k->kinds, "kinds", 64, 0, 0},
        [IDS_OF_RANKS] = {&k->ids, "ids", 4, 0, 0}, [BOUNDS] = {&bounds, "bounds", 4, 0, 0},
        [STARTS] = {&k->starts, "starts", 3, 0, 0}, [STEPS] = {&k->steps, "steps", 2, 0, 0},
        [WAYS] = {&k->ways, "ways", 2, 0, 0}, {&k->byte_pairs, "byte_pairs", 4, 1 << 16, 0},
        {&k->characters, "characters", 4, 1 << 16, 0}, {&k->crossings, "crossings", 1, PARTS_CROSS + 1024, 0},
        {&k->leads, "leads", 1, 256, 0}, {&k->pages, "pages", 2, 0x110000 / 64, 0}, {&differ, "parts_differ", 1, 1, 0},
    };

    if (k->tables != NULL) {
        PyErr_SetString(PyExc_TypeError, "a kernel is made once");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O", names, &PyDict_Type, &given, &make))
        return -1;
    if (copy_tables(k, given, tables, (int)(sizeof(tables) / sizeof(Table))) < 0)
        return -1;
    int64_t classes = tables[STARTS].count, states = 0; /* the last class is that of the end */
    if (classes > 1 && tables[STEPS].count % classes == 0 && tables[WAYS].count % classes == 0)
        states = tables[STEPS].count / classes;
    if (!is_power(tables[SHORTS].count) || !is_power(tables[MEDIUMS].count) || !is_power(tables[PAIRS].count)
        || tables[IDS_OF_RANKS].count < 256 || states == 0 || states > UNSURE || tables[WAYS].count / classes > NONE) {
        PyErr_SetString(PyExc_ValueError, "the tables do not belong together");
        return -1;
    }
    k->short_mask = (uint64_t)tables[SHORTS].count - 1;
    k->medium_mask = (uint64_t)tables[MEDIUMS].count - 1;
    k->pair_mask = (uint64_t)tables[PAIRS].count - 1;
    k->part = *differ ? PART : 0;
    k->vocabulary = tables[BOUNDS].count;
    k->classes = (uint32_t)classes - 1;
    k->states = (uint32_t)states;
    k->make = Py_NewRef(make);
    k->integers = PyMem_Calloc((size_t)k->vocabulary, sizeof(PyObject *));
    if (k->integers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return double_steps(k);
}

static void
Kernel_dealloc(Kernel *k)
{
    PyTypeObject *type = Py_TYPE(k);

    while (k->idle_count > 0)
        dismiss(k->idle[--k->idle_count]);
    for (int64_t i = 0; k->integers != NULL && i < k->vocabulary; i++)
        Py_XDECREF(k->integers[i]);
    PyMem_Free(k->integers);
    PyMem_Free(k->doubles);
    free(k->tables);
    Py_XDECREF(k->make);
    type->tp_free((PyObject *)k);
    Py_DECREF(type);
}

static PyMethodDef Kernel_methods[] = {
    {"encode", (PyCFunction)Kernel_encode, METH_O, NULL},
    {"packed", (PyCFunction)Kernel_packed, METH_O, NULL},
    {"packed64", (PyCFunction)Kernel_packed64, METH_O, NULL},
    {"count", (PyCFunction)Kernel_count, METH_O, NULL},
    {"pieces", (PyCFunction)Kernel_pieces, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot Kernel_slots[] = {
    {Py_tp_doc, "Cuts texts and looks pieces up: see kernel.pyi."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, Kernel_init},
    {Py_tp_dealloc, Kernel_dealloc},
    {Py_tp_methods, Kernel_methods},
    {0, NULL},
};

static PyType_Spec Kernel_spec = {
    "katapi.runtime.native.kernel.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT, Kernel_slots,
};

static int
execute(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&Kernel_spec);
    int failed = type == NULL ? -1 : PyModule_AddObjectRef(module, "Kernel", type);

    Py_XDECREF(type);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "katapi.runtime.native.kernel", "The kernel of byte-level encoders.", 0, NULL, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit_kernel(void)
{
    return PyModuleDef_Init(&definition);
}

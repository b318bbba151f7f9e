/* Finding the first character of a text that is not in a set of characters, given as a bit for each. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BYTES (0x110000 / 8)

static inline int
is_member(const uint8_t *members, Py_UCS4 c)
{
    return members[c >> 3] >> (c & 7) & 1;
}

/* The characters of a text two bytes each, from `i` on, as long as all are ASCII and those are members. */
static inline Py_ssize_t
behind_ascii(const Py_UCS2 *data, Py_ssize_t i, Py_ssize_t length)
{
#if defined(__SSE2__)
    const __m128i high = _mm_set1_epi16((short)0xFF80), none = _mm_setzero_si128();
    for (; i + 8 <= length; i += 8) {
        __m128i units = _mm_loadu_si128((const __m128i *)(data + i));
        if (_mm_movemask_epi8(_mm_cmpeq_epi16(_mm_and_si128(units, high), none)) != 0xFFFF)
            break;
    }
#else
    while (i < length && data[i] < 0x80)
        i++;
#endif
    return i;
}

static PyObject *
first_outside(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !PyUnicode_Check(arguments[0]) || !PyByteArray_Check(arguments[1])
        || PyByteArray_GET_SIZE(arguments[1]) != BYTES) {
        PyErr_SetString(PyExc_TypeError, "first_outside takes a str, a bytearray of a bit for each character, and a place");
        return NULL;
    }
    const Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]);
    const int kind = PyUnicode_KIND(arguments[0]);
    const void *data = PyUnicode_DATA(arguments[0]);
    const uint8_t *members = (const uint8_t *)PyByteArray_AS_STRING(arguments[1]);
    Py_ssize_t i = PyLong_AsSsize_t(arguments[2]);
    int skips = kind == PyUnicode_2BYTE_KIND;

    if (i == -1 && PyErr_Occurred())
        return NULL;
    if (i < 0) {
        PyErr_SetString(PyExc_ValueError, "a place is not below 0");
        return NULL;
    }
    for (int byte = 0; byte < 0x80 / 8; byte++)
        skips = skips && members[byte] == 0xFF;
    for (; i < length; i++) {
        if (skips && (i = behind_ascii(data, i, length)) == length)
            break;
        if (!is_member(members, PyUnicode_READ(kind, data, i)))
            return PyLong_FromSsize_t(i);
    }
    return PyLong_FromLong(-1);
}

static PyMethodDef methods[] = {
    {"first_outside", (PyCFunction)(void (*)(void))first_outside, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "katapi.runtime.native.membership", "Sets of characters: see membership.pyi.", 0, methods, NULL,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit_membership(void)
{
    return PyModuleDef_Init(&definition);
}

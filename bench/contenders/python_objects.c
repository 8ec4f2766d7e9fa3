/* The limit of what walks a tree for Python: nothing but the system calls and the objects that os.walk gives,
   in one thread. walk(path, stat) returns the number of entries. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
    unsigned long inode;
    long offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static char buffer[65536];

static int is_dots(const char *name) {
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Lists one directory; returns what os.walk yields for it. */
static PyObject *list(const char *path, int with_stat, long *count) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    PyObject *directories = PyList_New(0), *others = PyList_New(0);
    for (long length; (length = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
        for (long at = 0; at < length;) {
            struct entry *entry = (struct entry *)(buffer + at);
            at += entry->length;
            if (is_dots(entry->name)) continue;
            struct stat found;
            if (with_stat) fstatat(fd, entry->name, &found, AT_SYMLINK_NOFOLLOW);
            PyObject *name = PyUnicode_DecodeFSDefault(entry->name);
            PyList_Append(entry->type == DT_DIR ? directories : others, name);
            Py_DECREF(name);
            ++*count;
        }
    }
    close(fd);
    return Py_BuildValue("(sNN)", path, directories, others);
}

static int visit(const char *path, int with_stat, long *count) {
    PyObject *row = list(path, with_stat, count);
    if (!row) return -1;
    PyObject *directories = PyTuple_GET_ITEM(row, 1);
    int result = 0;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(directories) && !result; ++at) {
        char below[PATH_MAX];
        PyObject *name = PyUnicode_EncodeFSDefault(PyList_GET_ITEM(directories, at));
        int length = snprintf(below, sizeof below, "%s/%s", path, PyBytes_AS_STRING(name));
        Py_DECREF(name);
        if (length < (int)sizeof below) result = visit(below, with_stat, count);
    }
    Py_DECREF(row);
    return result;
}

static PyObject *walk(PyObject *self, PyObject *arguments) {
    const char *path;
    int with_stat;
    long count = 0;
    if (!PyArg_ParseTuple(arguments, "sp", &path, &with_stat)) return NULL;
    return visit(path, with_stat, &count) ? NULL : PyLong_FromLong(count);
}

static PyMethodDef methods[] = {{"walk", walk, METH_VARARGS, NULL}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "python_objects", NULL, -1, methods};

PyMODINIT_FUNC PyInit_python_objects(void) { return PyModule_Create(&module); }

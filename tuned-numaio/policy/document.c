/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/document.h"

#include "basic/array.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

typedef struct DocReader {
        yaml_parser_t parser;
        Problems *problems;
        const char *text;
        size_t size;
} DocReader;

void doc_clear(DocNode *node)
{
        for (size_t i = 0; i < node->n; i++)
                doc_clear(&node->items[i]);
        free(node->items);
        free(node->text);
        free(node->key);
        *node = (DocNode) { 0 };
}

bool doc_is_null(const DocNode *node)
{
        static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

        for (size_t i = 0; node->type == DOC_SCALAR && node->plain && i < ARRAY_SIZE(nulls); i++)
                if (strcmp(node->text, nulls[i]) == 0)
                        return true;
        return false;
}

const DocNode *doc_find(const DocNode *map, const char *key)
{
        for (size_t i = 0; map->type == DOC_MAP && i < map->n; i++)
                if (strcmp(map->items[i].key, key) == 0)
                        return &map->items[i];
        return NULL;
}

const char *doc_type_name(const DocNode *node)
{
        static const char *const names[] = { "text", "a list", "a mapping", "unreadable" };

        return doc_is_null(node) ? "empty" : names[node->type];
}

static unsigned line_of(const yaml_mark_t *mark)
{
        return (unsigned)mark->line + 1;
}

static unsigned column_of(const yaml_mark_t *mark)
{
        return (unsigned)mark->column + 1;
}

static void problem_at(DocReader *d, const yaml_mark_t *mark, const char *text)
{
        problem_add(d->problems, line_of(mark), column_of(mark), "%s", text);
}

/* What the YAML library's terse words mostly come from. */
static const char *syntax_hint(const yaml_parser_t *parser)
{
        static const struct {
                const char *problem, *context; /* NULL = any */
                const char *hint;
        } hints[] = {
                { NULL, "while scanning an alias", "; a pattern that starts with * needs quotes" },
                { "found character that cannot start any token", NULL,
                  "; lines are indented with spaces, not tabs, and a value that starts with @ or ` needs "
                  "quotes" },
                { "mapping values are not allowed in this context", NULL,
                  "; is the line indented as its neighbours are, and is a value with \": \" in quotes" },
                { "could not find expected ':'", NULL, "; a key is followed by a colon and a space" },
                { "did not find expected key", NULL, "; is the line indented as its neighbours are" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
                if ((!hints[i].problem || strcmp(hints[i].problem, parser->problem) == 0) &&
                    (!hints[i].context ||
                     (parser->context && strcmp(hints[i].context, parser->context) == 0)))
                        return hints[i].hint;
        return "";
}

/* A problem of the bytes themselves: the library knows only their offset. */
static void report_bytes(DocReader *d)
{
        unsigned line = 1, column = 1;

        for (size_t i = 0; i < d->parser.problem_offset && i < d->size; i++) {
                if (d->text[i] == '\n') {
                        line++;
                        column = 1;
                } else if (((unsigned char)d->text[i] & 0xc0) != 0x80) {
                        column++;
                }
        }
        problem_add(d->problems, line, column, "the file is not plain UTF-8 text: %s", d->parser.problem);
}

/* Notes why the library stopped. */
static int report_stop(DocReader *d)
{
        const yaml_parser_t *p = &d->parser;

        if (p->error == YAML_MEMORY_ERROR)
                return -ENOMEM;
        if (p->error == YAML_READER_ERROR) {
                report_bytes(d);
                return -EINVAL;
        }
        problem_add(d->problems, line_of(&p->problem_mark), column_of(&p->problem_mark),
                    "YAML syntax: %s%s%s%s", p->problem ? p->problem : "error", p->context ? " " : "",
                    p->context ? p->context : "", p->problem ? syntax_hint(p) : "");
        return -EINVAL;
}

/* The caller deletes *ret. Returns 0, -EINVAL (noted) or -ENOMEM. */
static int next_event(DocReader *d, yaml_event_t *ret)
{
        return yaml_parser_parse(&d->parser, ret) ? 0 : report_stop(d);
}

static void check_properties(DocReader *d, const yaml_event_t *e, const yaml_char_t *anchor,
                             const yaml_char_t *tag)
{
        if (anchor)
                problem_at(d, &e->start_mark, "anchors (&name) are not allowed; write the value out");
        if (tag)
                problem_at(d, &e->start_mark,
                           "tags (!name) are not allowed; text that starts with ! needs quotes");
}

static int read_scalar(DocReader *d, const yaml_event_t *e, DocNode *ret)
{
        const char *text = (const char *)e->data.scalar.value;

        check_properties(d, e, e->data.scalar.anchor, e->data.scalar.tag);
        if (strlen(text) != e->data.scalar.length || !text_is_clean(text)) {
                problem_at(d, &e->start_mark, "control characters and line ends are not allowed in a value");
                ret->type = DOC_BAD;
                return 0;
        }
        ret->text = strdup(text);
        ret->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return ret->text ? 0 : -ENOMEM;
}

static int read_node(DocReader *d, const yaml_event_t *e, unsigned depth, DocNode *ret);

/* Moves a child into a list or mapping. */
static int append(DocNode *parent, DocNode *child)
{
        DocNode *slot = ARRAY_APPEND(parent->items, parent->n);

        if (!slot)
                return -ENOMEM;
        *slot = *child;
        *child = (DocNode) { 0 };
        return 0;
}

static int check_room(DocReader *d, const yaml_event_t *e, const DocNode *parent, size_t max)
{
        if (parent->n < max)
                return 0;
        problem_add(d->problems, line_of(&e->start_mark), column_of(&e->start_mark),
                    "%s has more than %zu entries", doc_type_name(parent), max);
        return -EINVAL;
}

static int read_list(DocReader *d, unsigned depth, DocNode *ret)
{
        for (;;) {
                _cleanup_(yaml_event_delete) yaml_event_t e = { 0 };
                _cleanup_(doc_clear) DocNode child = { 0 };
                int r;

                r = next_event(d, &e);
                if (r < 0)
                        return r;
                if (e.type == YAML_SEQUENCE_END_EVENT)
                        return 0;
                r = check_room(d, &e, ret, DOCUMENT_LIST_MAX);
                if (r < 0)
                        return r;
                r = read_node(d, &e, depth, &child);
                if (r < 0)
                        return r;
                r = append(ret, &child);
                if (r < 0)
                        return r;
        }
}

/* Adds an entry, unless its key cannot be one or is there already. */
static int add_entry(DocReader *d, DocNode *map, DocNode *key, DocNode *value)
{
        const DocNode *earlier;
        char buf[SHOWN_MAX];

        if (key->type == DOC_BAD)
                return 0;
        if (key->type != DOC_SCALAR) {
                problem_add(d->problems, key->line, key->column, "a key must be a word, not %s",
                            doc_type_name(key));
                return 0;
        }
        earlier = doc_find(map, key->text);
        if (earlier) {
                problem_add(d->problems, key->line, key->column, "the key %s is there already, in line %u",
                            text_shown(key->text, buf), earlier->key_line);
                return 0;
        }
        value->key = STEAL_PTR(key->text);
        value->key_line = key->line;
        value->key_column = key->column;
        return append(map, value);
}

static int read_map(DocReader *d, unsigned depth, DocNode *ret)
{
        for (;;) {
                _cleanup_(yaml_event_delete) yaml_event_t k = { 0 }, v = { 0 };
                _cleanup_(doc_clear) DocNode key = { 0 }, value = { 0 };
                int r;

                r = next_event(d, &k);
                if (r < 0)
                        return r;
                if (k.type == YAML_MAPPING_END_EVENT)
                        return 0;
                r = check_room(d, &k, ret, DOCUMENT_MAP_MAX);
                if (r < 0)
                        return r;
                r = read_node(d, &k, depth, &key);
                if (r < 0)
                        return r;
                r = next_event(d, &v);
                if (r < 0)
                        return r;
                r = read_node(d, &v, depth, &value);
                if (r < 0)
                        return r;
                r = add_entry(d, ret, &key, &value);
                if (r < 0)
                        return r;
        }
}

/* Reads the value that starts with event e. */
static int read_node(DocReader *d, const yaml_event_t *e, unsigned depth, DocNode *ret)
{
        ret->line = line_of(&e->start_mark);
        ret->column = column_of(&e->start_mark);
        if (e->type == YAML_ALIAS_EVENT) {
                problem_at(d, &e->start_mark,
                           "aliases (*name) are not allowed; a pattern that starts with * needs quotes");
                ret->type = DOC_BAD;
                return 0;
        }
        if (e->type == YAML_SCALAR_EVENT)
                return read_scalar(d, e, ret);
        if (depth >= DOCUMENT_DEPTH_MAX) {
                problem_at(d, &e->start_mark, "lists and mappings are nested too deep");
                return -EINVAL;
        }
        if (e->type == YAML_SEQUENCE_START_EVENT) {
                ret->type = DOC_LIST;
                check_properties(d, e, e->data.sequence_start.anchor, e->data.sequence_start.tag);
                return read_list(d, depth + 1, ret);
        }
        ret->type = DOC_MAP;
        check_properties(d, e, e->data.mapping_start.anchor, e->data.mapping_start.tag);
        return read_map(d, depth + 1, ret);
}

/* Reads on to an event that opens a document; *ret_found = false at the end of the stream. */
static int next_document(DocReader *d, yaml_event_t *ret, bool *ret_found)
{
        for (;;) {
                int r;

                yaml_event_delete(ret);
                r = next_event(d, ret);
                if (r < 0)
                        return r;
                if (ret->type == YAML_DOCUMENT_START_EVENT || ret->type == YAML_STREAM_END_EVENT) {
                        *ret_found = ret->type == YAML_DOCUMENT_START_EVENT;
                        return 0;
                }
        }
}

static int read_stream(DocReader *d, DocNode *ret)
{
        _cleanup_(yaml_event_delete) yaml_event_t start = { 0 }, root = { 0 }, more = { 0 };
        bool found;
        int r;

        r = next_document(d, &start, &found);
        if (r < 0)
                return r;
        if (found) {
                if (start.data.document_start.tag_directives.start !=
                    start.data.document_start.tag_directives.end)
                        problem_at(d, &start.start_mark, "%TAG directives are not allowed");
                r = next_event(d, &root);
                if (r < 0)
                        return r;
                r = read_node(d, &root, 0, ret);
                if (r < 0)
                        return r;
        }
        if (!found || doc_is_null(ret)) {
                problem_add(d->problems, 1, 1, "the file is empty; a policy starts with \"version: 1\"");
                return -EINVAL;
        }
        r = next_document(d, &more, &found);
        if (r < 0)
                return r;
        if (found) {
                problem_at(d, &more.start_mark, "a second document starts here; a policy file holds one");
                return -EINVAL;
        }
        return 0;
}

int doc_parse(Problems *p, const char *text, size_t size, DocNode *ret)
{
        DocReader d = { .problems = p, .text = text, .size = size };
        int r;

        if (size > DOCUMENT_SIZE_MAX) {
                problem_add(p, 1, 1, "the file is larger than %lu bytes", DOCUMENT_SIZE_MAX);
                return -EINVAL;
        }
        if (!yaml_parser_initialize(&d.parser))
                return -ENOMEM;
        yaml_parser_set_encoding(&d.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&d.parser, (const unsigned char *)(text ? text : ""), size);
        r = read_stream(&d, ret);
        yaml_parser_delete(&d.parser);
        return r;
}

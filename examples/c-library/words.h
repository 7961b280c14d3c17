#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

/* Number of words in a text; a word is a run of characters without white space. */
size_t count_words(const char *text);

#endif

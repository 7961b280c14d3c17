#include "words.h"

#include <ctype.h>

size_t count_words(const char *text) {
  size_t words = 0;
  int inside = 0;
  for (; *text; text++) {
    int is_space = isspace((unsigned char)*text);
    if (!is_space && !inside) words++;
    inside = !is_space;
  }
  return words;
}

#include "words.h"

#include <stdio.h>

static int failures;

static void expect(const char *text, size_t words) {
  size_t counted = count_words(text);
  if (counted == words) return;
  printf("\"%s\": expected %zu words, counted %zu\n", text, words, counted);
  failures++;
}

int main(void) {
  expect("", 0);
  expect("   ", 0);
  expect("one", 1);
  expect(" two  words\n", 2);
  puts(failures ? "failed" : "all good");
  return failures != 0;
}

import assert from 'node:assert/strict';
import test from 'node:test';
import { roman } from './roman.js';

test('numerals of some numbers', () => {
  assert.equal(roman(4), 'IV');
  assert.equal(roman(1987), 'MCMLXXXVII');
  assert.equal(roman(3999), 'MMMCMXCIX');
});

test('numbers that have none', () => {
  for (const number of [0, -1, 1.5, 4000]) assert.throws(() => roman(number), RangeError);
});

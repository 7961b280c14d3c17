import test from 'ava';
import fc from 'fast-check';
import { readDay } from '../../server/policy/day.ts';

const christmas = [
  '2016-12-25',
  ' 2016-12-25 ',
  '2016/12/25',
  '2016.12.25',
  '20161225',
  '2016-12-25T23:30:00Z',
  '2016-12-25T23:30:00.000-08:00',
  '2016-12-25 10:00',
  '25.12.2016',
  '25-12-2016',
  '25/12/2016',
  '25 Dec 2016',
  '25-dec-2016',
  '25th December 2016',
  'Sun, 25 Dec 2016 23:00:00 GMT',
  'Dec 25, 2016',
  'December 25th, 2016',
  'Sunday, Dec. 25 2016',
];

for (const text of christmas) {
  test(`a day is read from ${JSON.stringify(text)}`, (t) => {
    t.is(readDay(text), '2016-12-25');
  });
}

for (const text of [
  '',
  'soon',
  '2016',
  '2016-12',
  '2016-13-01',
  '2015-02-29',
  '2016-00-10',
  '2016-12-251',
  '0000-01-01',
  '32.01.2016',
  '25 Foo 2016',
  'Sunday',
  '201612',
  '-2016-12-25',
]) {
  test(`no day is read from ${JSON.stringify(text)}`, (t) => {
    t.is(readDay(text), null);
  });
}

test('a day of the calendar is read as it is written, and anything else as none', (t) => {
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9999-12-31') }),
      (date) => {
        const day = date.toISOString().slice(0, 10);
        return readDay(day) === day && readDay(date.toISOString()) === day;
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (text) => /^(?:\d{4}-\d\d-\d\d)?$/.test(readDay(text) ?? '')));
  t.pass();
});
